/** Something that people know as a plugin: it is built in, and switched on and configured over the API. */
export interface Plugin {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly configurationSchema: object;
  /** Members of the configuration that are never told. */
  readonly secrets: readonly string[];
}

/** Figures of the pools for Prometheus and the like. */
export const openMetrics: Plugin = {
  id: "openmetrics",
  name: "openmetrics",
  description:
    "Figures of pools, hosts, VMs and SRs at /openmetrics/metrics, for who shows the secret as a bearer token.",
  configurationSchema: {
    type: "object",
    additionalProperties: false,
    properties: {
      secret: {
        title: "Secret",
        description: "What Prometheus shows: `Authorization: Bearer SECRET`.",
        type: "string",
        minLength: 1,
        maxLength: 1024,
      },
    },
    required: ["secret"],
  },
  secrets: ["secret"],
};
