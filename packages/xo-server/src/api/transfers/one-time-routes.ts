import type { FastifyInstance, FastifyRequest } from "fastify";
import { PATH_PREFIX } from "../../transfers/one-time-path.js";
import type { OneTimePaths } from "../../transfers/one-time-paths.js";
import { toRestError } from "../errors/rest-error.js";
import {
  addStreamBodies,
  readRange,
  receiveUpload,
  sendDownload,
  takeOffer,
} from "./transfer-exchange.js";

type Request = FastifyRequest<{ Params: { token: string } }>;

/**
 * Adds the routes of one-time paths. A file name may follow the token: browsers
 * save the file under that name.
 */
export function addOneTimePaths(
  app: FastifyInstance,
  paths: OneTimePaths,
): void {
  app.register(async (transfers) => {
    addStreamBodies(transfers);
    addErrors(transfers);
    for (const url of [`${PATH_PREFIX}:token`, `${PATH_PREFIX}:token/*`]) {
      transfers.get(url, async (request: Request, reply) => {
        const { token } = request.params;
        const open = await takeOffer(paths, token, "download");
        return sendDownload(reply, await open(readRange(request)));
      });
      transfers.post(url, async (request: Request, reply) => {
        const { token } = request.params;
        const receive = await takeOffer(paths, token, "upload");
        const result = await receiveUpload(request, receive);
        // Clients of Xen Orchestra expect a JSON-RPC response.
        return reply
          .type("application/json")
          .send(JSON.stringify({ jsonrpc: "2.0", id: 0, result }));
      });
    }
  });
}

function addErrors(app: FastifyInstance): void {
  app.setErrorHandler(async (error: Error, _request, reply) => {
    const known = toRestError(error);
    if (known === undefined) throw error;
    const { status, body } = known;
    return reply.code(status).type("application/json").send(body);
  });
}
