import { XoError } from "@xo-server/model";

/** Timeout of an attempt. */
const TIMEOUT_MS = 10_000;

/**
 * Sends JSON by POST. Redirects are not followed, so that secrets only go to the
 * configured URL; the body of the response is not read. Errors name the host
 * alone: the rest of the URL may be secret.
 * @throws XoError UNREACHABLE also for any status but 2xx
 */
export async function post(
  url: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const address = new URL(url).host;
  let answer: Response;
  try {
    answer = await fetch(url, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...headers,
        "content-type": "application/json",
        "user-agent": "xo-server",
      },
      body: text,
    });
  } catch (error) {
    throw new XoError("UNREACHABLE", { address, reason: reasonOf(error) });
  }
  await answer.body?.cancel();
  if (!answer.ok)
    throw new XoError("UNREACHABLE", {
      address,
      reason: `HTTP status ${answer.status}`,
    });
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no answer within ${TIMEOUT_MS} ms`;
  return cause instanceof Error ? cause.message : message;
}
