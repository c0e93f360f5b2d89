/** JSON, as the specification has it. */
export type Json = Readonly<Record<string, unknown>>;

export type Exposure = "allow" | "confirm" | "deny";

const descriptions: Readonly<Record<number, string>> = {
  200: "Success",
  201: "Created",
  204: "Done",
  400: "The request cannot be read",
  401: "Invalid credentials",
  403: "Not enough privileges",
  404: "No such object",
  409: "It is there already, or in another state",
  413: "More than fits",
  422: "Invalid parameters",
  503: "Not now",
};

export const jsonType = "application/json";

/** @param statuses of failures */
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

export function ref(path: string): Json {
  return { $ref: `#/components/${path}` };
}

export function success(status: number, content?: Json): Json {
  const description = descriptions[status] ?? "Success";
  return {
    [status]: { description, ...(content === undefined ? {} : { content }) },
  };
}

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
            "What went wrong; for invalid parameters what is wrong with each.",
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
            description: "href, where no fields are asked for",
          },
          ref("schemas/Object"),
        ],
      },
    },
  },
  parameters: {
    fields: query(
      "fields",
      "Keys of each object, separated by commas; `*`: all. Absent: hrefs only.",
      { type: "string" },
    ),
    filter: query(
      "filter",
      "Which objects, such as `power_state:running tags:(a b) !name_label:/re/`.",
      { type: "string" },
    ),
    limit: query("limit", "Objects at most.", { type: "integer", minimum: 0 }),
    ndjson: query("ndjson", "One object a line, as they come.", {
      type: "boolean",
    }),
    markdown: query("markdown", "A table for people and assistants.", {
      type: "boolean",
    }),
  },
};

/** Of all lists. */
export const listParameters: readonly Json[] = [
  "fields",
  "filter",
  "limit",
  "ndjson",
  "markdown",
].map((name) => ref(`parameters/${name}`));

/** @param example of one object */
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

export function objectContent(schema: Json, example: unknown): Json {
  const examples =
    example === undefined ? {} : { examples: { object: { value: example } } };
  return { [jsonType]: { schema, ...examples } };
}

function query(name: string, description: string, schema: Json): Json {
  return { name, in: "query", description, schema };
}

/** Of a task, in examples. */
export const exampleTask = "mh0abc12-0123456789ab";
