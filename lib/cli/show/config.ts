import { tableText } from "../../render/page_text.ts";
import { openApp } from "../../service/app.ts";
import { type SettingFlags, settingsOf } from "../../service/look/settings.ts";
import type { Told } from "../page.ts";

/** `orrery show config`: every setting with where it comes from. */
export async function showConfig(
  _name: string,
  { flags }: { readonly flags: SettingFlags },
): Promise<Told> {
  const settings = await settingsOf(await openApp(), flags);
  const rows = settings.map(({ key, value, from }) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
    from,
  ]);
  return { json: settings, text: tableText(["SETTING", "VALUE", "FROM"], rows) };
}
