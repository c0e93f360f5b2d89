import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { toLocation, type Repository } from "../repository.js";

/** Repositories to choose from, with their location, free space and problem. */
export function repositoryOptions(
  repositories: readonly Repository[],
  {
    texts,
    formats,
  }: {
    readonly texts: Messages["backup"]["jobs"];
    readonly formats: Formats;
  },
): readonly {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
}[] {
  return repositories.map(({ id, name, url, enabled, error, state }) => ({
    id,
    label: name,
    hint: [
      toLocation(url),
      ...(state.available === undefined
        ? []
        : [fill(texts.free, { size: formats.size(state.available) })]),
      ...(enabled ? [] : [texts.isDisabled]),
      ...(error === undefined ? [] : [error.message]),
    ].join(" · "),
  }));
}
