import type { Store } from "@xo-server/store";

/** Encrypted texts that only name their purpose and text. */
export const fakeSeals: Pick<Store["seals"], "seal" | "open"> = {
  seal: (text: string, purpose: string) => `${purpose}: ${text}`,
  open: (sealed: string, purpose: string) =>
    sealed.startsWith(`${purpose}: `)
      ? sealed.slice(purpose.length + 2)
      : undefined,
};
