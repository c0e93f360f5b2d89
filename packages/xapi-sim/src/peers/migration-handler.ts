import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { XapiFailure } from "../xapi-failure.js";
import { LineChannel } from "./line-channel.js";
import {
  MigrationReceiver,
  type MigrationBlock,
  type ReceiveOrder,
} from "./migration-receiver.js";

/**
 * The endpoint at which another simulated pool transfers a VM: a channel of
 * lines (real hosts use xenopsd's and storage's protocols there, which no
 * client sees).
 */
export const migrationHandlers: readonly HttpHandler[] = [
  {
    name: "connect_migrate",
    method: "CONNECT",
    path: "/services/xenops",
    taskless: true,
    handle: receiveVm,
  },
];

async function receiveVm(
  _: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  const channel = new LineChannel(response.raw("HTTP/1.1 200 OK\r\n\r\n"));
  let receiver: MigrationReceiver | undefined;
  try {
    for (;;) {
      const message = await channel.receive();
      if (message === undefined) return;
      try {
        if (receiver === undefined) {
          receiver = new MigrationReceiver(
            context,
            message as unknown as ReceiveOrder,
          );
          channel.send({});
        } else if (message["finish"] !== true) {
          receiver.write(message as unknown as MigrationBlock);
          channel.send({});
        } else {
          const vm = receiver.finish();
          receiver = undefined;
          channel.send({ vm });
        }
      } catch (error) {
        receiver?.abandon();
        receiver = undefined;
        channel.send(describe(error));
      }
    }
  } finally {
    receiver?.abandon();
    channel.close();
  }
}

function describe(error: unknown): {
  error: string;
  params: readonly string[];
} {
  return error instanceof XapiFailure
    ? { error: error.code, params: error.params }
    : { error: "INTERNAL_ERROR", params: [String(error)] };
}
