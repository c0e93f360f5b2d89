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
    address: Type.String({
      default: "",
      pattern: "^((\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+)(:\\d{1,5})?)?$",
      description:
        "Address at which the other servers reach this one directly, such as 10.0.0.1 or 10.0.0.1:9000; empty: http.host, or if that is any address, the one that PostgreSQL sees.",
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
