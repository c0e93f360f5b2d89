import {
  failures,
  jsonType,
  objectContent,
  pathParameter,
  success,
  type Exposure,
  type Json,
} from "./parts.js";

/** Paths of routes that belong to no collection and no operation. */
export function describeFixedRoutes(): ReadonlyMap<string, Json> {
  return new Map<string, Json>([
    [
      "/ping",
      {
        get: describePublic(
          "Ping",
          "Check that the server is running.",
          "allow",
          ping,
        ),
      },
    ],
    [
      "/mcp/status",
      {
        get: describePublic(
          "GetMcpStatus",
          "Check whether MCP clients are enabled.",
          "deny",
          mcp,
        ),
      },
    ],
    [
      "/gui-routes",
      {
        get: describePublic(
          "GetGuiRoutes",
          "Return the paths of the user interfaces.",
          "allow",
          pages,
        ),
      },
    ],
    [
      "/docs/swagger.json",
      {
        get: describePublic(
          "swaggerSpec",
          "Return this OpenAPI document.",
          "deny",
          {},
        ),
      },
    ],
    ["/auth/login", { post: login }],
    ["/auth/logout", { post: logout }],
    ["/events", { get: openEvents }],
    ["/events/{id}/subscriptions", { post: addSubscription }],
    [
      "/events/{id}/subscriptions/{subscriptionId}",
      { delete: removeSubscription },
    ],
  ]);
}

const ping = { result: "pong", timestamp: 1_767_225_600_000 };
const mcp = { enabled: true };
const pages = { xo5: "/", xo6: "/" };
const anyObject = { type: "object" } as const;

function describePublic(
  operationId: string,
  summary: string,
  exposure: Exposure,
  example: Json,
): Json {
  return {
    operationId,
    summary,
    tags: ["server"],
    "x-mcp-exposure": exposure,
    security: [],
    responses: {
      ...success(200, objectContent(anyObject, example)),
      ...failures([401]),
    },
  };
}

const text = { type: "string" } as const;

const login: Json = {
  operationId: "Login",
  summary: "Sign in with a user name and password, and set a token cookie.",
  tags: ["server"],
  "x-mcp-exposure": "deny",
  security: [],
  requestBody: body({ username: text, password: text, otp: text }, [
    "username",
    "password",
  ]),
  responses: {
    ...success(200, objectContent(anyObject, undefined)),
    ...failures([400, 401, 422]),
  },
};

const logout: Json = {
  operationId: "Logout",
  summary: "Sign out: delete the token of the request and its cookie.",
  tags: ["server"],
  "x-mcp-exposure": "deny",
  responses: { ...success(204), ...failures([400, 401]) },
};

const openEvents: Json = {
  operationId: "OpenSseConnection",
  summary: "Open a stream of changes (server-sent events).",
  tags: ["events"],
  // The response does not end: not usable by an MCP client.
  "x-mcp-exposure": "deny",
  responses: {
    ...success(200, { "text/event-stream": { schema: text } }),
    ...failures([400, 401]),
  },
};

const addSubscription: Json = {
  operationId: "AddSubscription",
  summary: "Subscribe an event stream to the objects of one type.",
  tags: ["events"],
  "x-mcp-exposure": "deny",
  parameters: [pathParameter("id")],
  requestBody: body(
    {
      collection: {
        ...text,
        description: "An object type such as `VM` or `host`, or `alarm`.",
      },
      fields: {
        oneOf: [{ const: "*" }, { type: "array", items: text }],
        description: "Keys of each object; default: all.",
      },
    },
    ["collection"],
  ),
  responses: {
    ...success(201, objectContent(anyObject, { id: "VM" })),
    ...failures([400, 401, 404, 422]),
  },
};

const removeSubscription: Json = {
  operationId: "RemoveSubscription",
  summary: "Unsubscribe an event stream from the objects of one type.",
  tags: ["events"],
  "x-mcp-exposure": "deny",
  parameters: [pathParameter("id"), pathParameter("subscriptionId")],
  responses: { ...success(204), ...failures([400, 401, 404]) },
};

function body(properties: Json, required: readonly string[]): Json {
  return {
    required: true,
    content: {
      [jsonType]: { schema: { type: "object", properties, required } },
    },
  };
}
