import { invalidInput } from "../../errors/invalid-input.js";
import { callerOf, pathParameter } from "../routing/rest-request.js";
import type { RouteTable } from "../routing/route-table.js";
import { EventStreams } from "./event-streams.js";
import type { EventStreamsOptions } from "./event-streams.js";

interface EventRoutesOptions extends Omit<
  EventStreamsOptions,
  "catalog" | "queries"
> {
  readonly objects: Pick<EventStreamsOptions, "catalog" | "queries">;
  /** Registers a function that is called before the server closes its connections. */
  readonly onClose: (stop: () => void) => void;
}

/** `/events`: server-sent events with changes (docs/api.md). */
export function addEventRoutes(
  routes: RouteTable,
  { objects, onClose, ...options }: EventRoutesOptions,
): void {
  const streams = new EventStreams({ ...options, ...objects });
  onClose(() => {
    streams.stop();
  });
  routes.add("GET", "/events", (request, reply) => {
    const caller = callerOf(request);
    caller.rights();
    streams.checkLimit(caller);
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": "text/event-stream",
      // Disables buffering of reverse proxies (nginx).
      "x-accel-buffering": "no",
    });
    streams.open(raw, caller);
  });
  routes.post("/events/{id}/subscriptions", async (request, reply) => {
    const subscription = readSubscription(request.body);
    const id = pathParameter(request, "id");
    await streams.subscribe(id, callerOf(request), subscription);
    return reply.code(201).send({ id: subscription.name });
  });
  routes.delete("/events/{id}/subscriptions/{name}", async (request, reply) => {
    const id = pathParameter(request, "id");
    const name = pathParameter(request, "name");
    streams.unsubscribe(id, callerOf(request), name);
    return reply.code(204).send();
  });
}

const MAX_FIELDS = 256;

function readSubscription(body: unknown): {
  name: string;
  fields: readonly string[] | "*";
} {
  const { collection, fields = "*" } = (body ?? {}) as Record<string, unknown>;
  if (typeof collection !== "string")
    throw invalidInput({
      "body.collection": { message: "a string is required" },
    });
  if (fields === "*") return { name: collection, fields };
  const isList =
    Array.isArray(fields) &&
    fields.length <= MAX_FIELDS &&
    fields.every((field) => typeof field === "string");
  if (isList) return { name: collection, fields };
  throw invalidInput({
    "body.fields": { message: `"*" or a list of at most ${MAX_FIELDS} names` },
  });
}
