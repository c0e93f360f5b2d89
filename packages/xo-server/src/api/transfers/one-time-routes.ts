import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  PATH_PREFIX,
  type OneTimePaths,
} from "../../transfers/one-time-paths.js";
import { toRestError } from "../errors/rest-error.js";
import {
  addStreamBodies,
  readRange,
  receiveUpload,
  sendDownload,
  takeOffer,
} from "./transfer-exchange.js";

type Request = FastifyRequest<{ Params: { token: string } }>;

/** Where the paths lead. A name may follow the token: it is what a browser saves the file under. */
export function addOneTimePaths(
  app: FastifyInstance,
  paths: OneTimePaths,
): void {
  app.register(async (door) => {
    addStreamBodies(door);
    addErrors(door);
    for (const url of [`${PATH_PREFIX}:token`, `${PATH_PREFIX}:token/*`]) {
      door.get(url, async (request: Request, reply) => {
        const open = takeOffer(paths, request.params.token, "download");
        return sendDownload(reply, await open(readRange(request)));
      });
      door.post(url, async (request: Request, reply) => {
        const receive = takeOffer(paths, request.params.token, "upload");
        const result = await receiveUpload(request, reply, receive);
        // As clients of Xen Orchestra read it: an answer of the API, to no request.
        return reply
          .type("application/json")
          .send(JSON.stringify({ jsonrpc: "2.0", id: 0, result }));
      });
    }
  });
}

function addErrors(door: FastifyInstance): void {
  door.setErrorHandler(async (error: Error, _request, reply) => {
    const known = toRestError(error);
    if (known === undefined) throw error;
    const { status, body } = known;
    return reply.code(status).type("application/json").send(body);
  });
}
