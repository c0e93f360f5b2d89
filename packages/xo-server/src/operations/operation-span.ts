import type { Span } from "../telemetry/span.js";
import type { Tracer } from "../telemetry/tracer.js";
import type { CallContext } from "./operation.js";

/** @param kind server: called by a client; internal: called by another operation */
export function startOperationSpan(
  tracer: Tracer,
  name: string,
  { user, task, trace }: CallContext,
  kind: "server" | "internal",
): Span {
  return tracer.start(name, trace, {
    kind,
    attributes: {
      "rpc.system": "xo-server",
      "rpc.method": name,
      ...(user === undefined ? {} : { "enduser.id": user.id }),
      ...(task?.taskId === undefined ? {} : { "xo.task.id": task.taskId }),
    },
  });
}
