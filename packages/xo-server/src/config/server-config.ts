import { Type } from "typebox";
import { section } from "./config-parts.js";

export const ServerConfig = section(
  "This server among several with one PostgreSQL database.",
  {
    name: Type.String({
      default: "",
      maxLength: 128,
      description:
        "Name of this server, unique among them; empty: the host name. A server that is replaced keeps its name.",
    }),
    leaseMs: Type.Integer({
      default: 4_000,
      minimum: 1_000,
      maximum: 600_000,
      description:
        "When a server has not renewed its leases for this time, other servers take over its tasks, jobs and load balancers, in ms.",
    }),
  },
);
