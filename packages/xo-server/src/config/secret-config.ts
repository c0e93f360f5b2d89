import { Type, type TString } from "typebox";

/** Schema of a string. @param preset default */
export function text(preset: string, description: string) {
  return Type.String({ default: preset, maxLength: 4096, description });
}

/** Three keys for one secret: value, file and environment variable. */
export function secret<K extends string>(
  key: K,
  what: string,
): Record<K | `${K}File` | `${K}Env`, TString> {
  const parts = {
    [key]: text(
      "",
      `${what}; a file or an environment variable is more secure.`,
    ),
    [`${key}File`]: text("", "File whose first line is the secret."),
    [`${key}Env`]: text("", "Environment variable with the secret."),
  };
  return parts as Record<K | `${K}File` | `${K}Env`, TString>;
}
