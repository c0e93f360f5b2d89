/** A JSON object of the OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

export type Exposure = "allow" | "confirm" | "deny";

const descriptions: Readonly<Record<number, string>> = {
  200: "Success",
  201: "Created",
  204: "No content",
  400: "Bad request",
  401: "Invalid credentials",
  403: "Not enough privileges",
  404: "No such object",
  409: "The object already exists or is in another state",
  413: "Too large",
  422: "Invalid parameters",
  503: "Temporarily unavailable",
};

export const jsonType = "application/json";

/** Error responses with these statuses. */
export function failures(statuses: readonly number[]): Json {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: descriptions[status] ?? "Failed",
        content: { [jsonType]: { schema: ref("schemas/Error") } },
      },
    ]),
  );
}

/** @param path below `components`, such as `schemas/VM` */
export function ref(path: string): Json {
  return { $ref: `#/components/${path}` };
}

/** A response with its description, for the member `responses`. */
export function success(status: number, content?: Json): Json {
  const description = descriptions[status] ?? "Success";
  return {
    [status]: { description, ...(content === undefined ? {} : { content }) },
  };
}

/** A required parameter of the path; all of them are strings. */
export function pathParameter(name: string): Json {
  return { name, in: "path", required: true, schema: { type: "string" } };
}

export const components: Json = {
  securitySchemes: {
    token: { type: "apiKey", in: "cookie", name: "authenticationToken" },
    basic: { type: "http", scheme: "basic" },
    bearer: { type: "http", scheme: "bearer" },
  },
  schemas: {
    Error: {
      type: "object",
      required: ["error"],
      properties: {
        error: {
          description:
            "Error message; for invalid parameters, an object with the fault of each parameter.",
          oneOf: [{ type: "string" }, { type: "object" }],
        },
        data: { type: "object" },
        info: { type: "string" },
      },
    },
    Object: { type: "object", additionalProperties: true },
    List: {
      type: "array",
      items: {
        oneOf: [
          {
            type: "string",
            description: "href, if no fields are requested",
          },
          ref("schemas/Object"),
        ],
      },
    },
  },
  parameters: {
    fields: query(
      "fields",
      "Keys of each object, separated by commas; `*`: all. Default: hrefs only.",
      { type: "string" },
    ),
    filter: query(
      "filter",
      "Filter expression, such as `power_state:running tags:(a b) !name_label:/re/`.",
      { type: "string" },
    ),
    limit: query("limit", "Maximum number of objects.", {
      type: "integer",
      minimum: 0,
    }),
    ndjson: query("ndjson", "Stream of one JSON object per line.", {
      type: "boolean",
    }),
    markdown: query("markdown", "Markdown table.", {
      type: "boolean",
    }),
  },
};

/** Query parameters of all lists. */
export const listParameters: readonly Json[] = [
  "fields",
  "filter",
  "limit",
  "ndjson",
  "markdown",
].map((name) => ref(`parameters/${name}`));

/** @param example one object of the list */
export function listContent(example: unknown): Json {
  return {
    [jsonType]: {
      schema: ref("schemas/List"),
      examples: { objects: { value: [example] } },
    },
    "application/x-ndjson": { schema: { type: "string" } },
    "text/markdown": { schema: { type: "string" } },
  };
}

/** Content of a JSON response. @param example undefined: none is shown */
export function objectContent(schema: Json, example: unknown): Json {
  const examples =
    example === undefined ? {} : { examples: { object: { value: example } } };
  return { [jsonType]: { schema, ...examples } };
}

function query(name: string, description: string, schema: Json): Json {
  return { name, in: "query", description, schema };
}

/** Id of a task in examples. */
export const exampleTask = "mh0abc12-0123456789ab";

/** @param type of an object, such as `SR` or `VM-snapshot` */
export function withArticle(type: string): string {
  return `${/^([aeiou]|S[MR])/i.test(type) ? "an" : "a"} ${type}`;
}
