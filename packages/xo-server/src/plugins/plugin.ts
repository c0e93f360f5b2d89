/**
 * A feature that clients see as a plugin: built in, configured and loaded over
 * the API.
 */
export interface Plugin {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly configurationSchema: object;
  /** Members of the configuration that are never returned. */
  readonly secrets: readonly string[];
}

/** Metrics of the pools in the OpenMetrics format. */
export const openMetrics: Plugin = {
  id: "openmetrics",
  name: "openmetrics",
  description:
    "Metrics of pools, hosts, VMs and SRs at /openmetrics/metrics, authenticated by a bearer token.",
  configurationSchema: {
    type: "object",
    additionalProperties: false,
    properties: {
      secret: {
        title: "Secret",
        description:
          "Bearer token of the scraper: `Authorization: Bearer SECRET`.",
        type: "string",
        minLength: 1,
        maxLength: 1024,
      },
    },
    required: ["secret"],
  },
  secrets: ["secret"],
};
