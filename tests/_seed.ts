// Loaded before the tests of `deno task test`: properties are tried with the same random values each time, so that a change is what makes
// one fail. `deno task soak` tries others; what it finds becomes a case.

import fc from "fast-check";

fc.configureGlobal({ seed: 20_261_127 });
