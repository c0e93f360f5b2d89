import { XoError } from "@xo-server/model";
import type { XapiOptions } from "./options.js";
import type { Xapi } from "./xapi.js";

/** Makes a client; nothing is sent until connect(). */
export function createXapi(options: XapiOptions): Xapi {
  throw new XoError("NOT_CONNECTED", { pool: options.hosts });
}
