import { EMPTY_CATALOG } from "../core/catalog.ts";
import type { Model } from "../core/model.ts";
import { silentModel } from "../run/noted_model.ts";
import { type DialogInput, dialogInput, type DialogMeans } from "../service/start/dialog.ts";
import type { DialogFlags } from "./dialog_flags.ts";
import type { GrantFlags } from "./grants.ts";
import { openReplay } from "./open_replay.ts";
import { replayedPrompts } from "./replayed_prompts.ts";
import { wholeServers } from "./whole_servers.ts";

/** A dialog that a record answers: nothing is asked, called or kept. */
export interface ReplayedDialog extends Omit<DialogMeans, "signal"> {
  readonly kept: undefined;
  readonly input: DialogInput;
}

/** Opens the record of a dialog; what the flags say counts over what it says. @throws as `openReplay` */
export async function replayDialog(
  record: string,
  { cwd, kind, flags }: {
    readonly cwd: string;
    readonly kind: "ask" | "chat";
    readonly flags: DialogFlags & GrantFlags & { readonly record: string | undefined };
  },
): Promise<ReplayedDialog> {
  const { replay } = await openReplay(record, { cwd, kind, alsoRecords: flags.record });
  const recorded = dialogInput(replay.run.input);
  const input = { ...recorded, ...flagsOver(recorded, flags) };
  const prompts = () => replayedPrompts(cwd, { cwd, flags });
  return { input, replay, prompts, model: modelOf(input), catalog: EMPTY_CATALOG, kept: undefined };
}

function flagsOver({ tools: recorded }: DialogInput, flags: DialogFlags): Partial<DialogInput> {
  const { model, system, temperature, tools, "tools-mode": mode } = flags;
  return {
    ...(model === undefined ? {} : { model, modelId: model }),
    ...(system === undefined ? {} : { system }),
    ...(temperature === undefined ? {} : { temperature }),
    tools: tools.length === 0 ? recorded : wholeServers(tools, recorded.map((name) => ({ name }))),
    ...(mode === "native" || mode === "blocks" ? { toolsMode: mode } : {}),
  };
}

function modelOf({ modelId, contextTokens }: DialogInput): Model {
  return silentModel({ id: modelId, contextTokens });
}
