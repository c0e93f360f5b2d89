/** XAPI protocols: rfb (graphical), vt100 (serial). */
export type ConsoleKind = "rfb" | "vt100";

/** The available consoles. */
export interface ConsoleSummary {
  readonly id: string;
  /** `VM`, `VM-controller` or `host`. */
  readonly type: string;
  readonly name_label: string;
  readonly kinds: readonly ConsoleKind[];
}

/** Why no console is available: a code of the error table (docs/errors.md). */
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

/** Requests the summary over HTTP, as browsers hide why a WebSocket was refused. */
export async function fetchSummary(id: string): Promise<Answer> {
  try {
    const answer = await fetch(addressOf(id));
    const body = (await answer.json()) as ConsoleSummary & Refusal;
    return answer.ok
      ? { kind: "ready", summary: body }
      : { kind: "refused", refusal: body };
  } catch {
    // The server did not answer.
    return { kind: "gone" };
  }
}

/** URL of the WebSocket. */
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
