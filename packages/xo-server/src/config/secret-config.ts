import { Type, type TString } from "typebox";

export function text(preset: string, description: string) {
  return Type.String({ default: preset, maxLength: 4096, description });
}

/** Three keys for one secret: itself, a file, a variable of the environment. */
export function secret<K extends string>(
  key: K,
  what: string,
): Record<K | `${K}File` | `${K}Env`, TString> {
  const parts = {
    [key]: text("", `${what}; better one of the two below.`),
    [`${key}File`]: text("", "A file whose first line it is."),
    [`${key}Env`]: text("", "A variable of the environment that holds it."),
  };
  return parts as Record<K | `${K}File` | `${K}Env`, TString>;
}
