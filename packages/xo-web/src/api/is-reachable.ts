/** Longest time of a request that shows whether the server is reachable, in ms. */
const PING_MS = 10_000;

/** Whether the server answers a request outside of the connection. */
export async function isReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PING_MS);
    const url = new URL("rest/v0/ping", document.baseURI);
    return (await fetch(url, { signal, cache: "no-store" })).ok;
  } catch {
    // No answer in time, or no network: not reachable.
    return false;
  }
}
