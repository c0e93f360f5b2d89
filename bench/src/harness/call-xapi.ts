/** One call of a simulated pool, with the least there is. @throws Error with what the pool refused */
export async function callXapi(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
  const answer = await fetch(`${url}/jsonrpc`, { method: "POST", body });
  const { result, error } = (await answer.json()) as {
    readonly result?: unknown;
    readonly error?: { readonly message: string };
  };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
