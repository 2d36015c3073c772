import { PLACES, stepContract } from "./_step_contract.ts";

stepContract(PLACES);
