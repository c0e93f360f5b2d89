import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { toPlace, type Repository } from "../repository.js";

/** Repositories to choose from, with their place, free space and problem. */
export function repositoryOptions(
  repositories: readonly Repository[],
  {
    words,
    formats,
  }: {
    readonly words: Messages["backup"]["jobs"];
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
      toPlace(url),
      ...(state.available === undefined
        ? []
        : [fill(words.free, { size: formats.size(state.available) })]),
      ...(enabled ? [] : [words.isDisabled]),
      ...(error === undefined ? [] : [error.message]),
    ].join(" · "),
  }));
}
