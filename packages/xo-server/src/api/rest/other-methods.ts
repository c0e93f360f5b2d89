import type { FastifyInstance, FastifyReply } from "fastify";

/** Methods by path, as routes declare them; filled while routes are added. */
export function collectMethods(
  door: FastifyInstance,
): ReadonlyMap<string, ReadonlySet<string>> {
  const methods = new Map<string, Set<string>>();
  door.addHook("onRoute", ({ routePath, method }) => {
    const known = methods.get(routePath) ?? new Set<string>();
    for (const one of [method].flat()) known.add(one);
    methods.set(routePath, known);
  });
  return methods;
}

/** What is there but not for this method is told so, with the methods that it is for. */
export function refuseOtherMethods(
  door: FastifyInstance,
  declared: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const [url, methods] of [...declared]) {
    if (url.endsWith("*")) continue;
    const others = door.supportedMethods.filter((one) => !methods.has(one));
    const allow = [...methods].toSorted().join(", ");
    const refuse = async (_request: unknown, reply: FastifyReply) =>
      reply
        .code(405)
        .header("allow", allow)
        .type("application/json; charset=utf-8")
        .send({ error: `method not allowed, there is ${allow}` });
    if (others.length === 0) continue;
    door.route({ method: others, url, onRequest: refuse, handler: refuse });
  }
}
