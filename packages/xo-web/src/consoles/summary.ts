/** As XAPI calls them: a screen, or a terminal. */
export type ConsoleKind = "rfb" | "vt100";

/** What there is to open. */
export interface ConsoleSummary {
  readonly id: string;
  /** `VM`, `VM-controller` or `host`. */
  readonly type: string;
  readonly name_label: string;
  readonly kinds: readonly ConsoleKind[];
}

/** Why there is nothing: a code of the server's error table. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type Answer =
  | { readonly kind: "ready"; readonly summary: ConsoleSummary }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** The server does not answer. */
  | { readonly kind: "gone" };

/** Asks what could be opened; browsers do not tell why a WebSocket could not. */
export async function fetchSummary(id: string): Promise<Answer> {
  try {
    const answer = await fetch(addressOf(id));
    const body = (await answer.json()) as ConsoleSummary & Refusal;
    return answer.ok
      ? { kind: "ready", summary: body }
      : { kind: "refused", refusal: body };
  } catch {
    return { kind: "gone" };
  }
}

/** Of the WebSocket. */
export function socketUrl(id: string, kind: ConsoleKind): string {
  const url = addressOf(id);
  url.protocol = url.protocol.replace("http", "ws");
  url.searchParams.set("type", kind);
  return url.href;
}

function addressOf(id: string): URL {
  const path = `api/consoles/${encodeURIComponent(id)}`;
  return new URL(path, document.baseURI);
}
