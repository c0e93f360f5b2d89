import { Type, type Static } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import type { Plugins } from "../../plugins/plugins.js";

const id = Type.String({
  minLength: 1,
  description: "Id of a plugin, such as openmetrics.",
});
const closed = { additionalProperties: false } as const;
const Params = Type.Object({ id }, closed);

const PublicPlugin = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  version: Type.String(),
  autoload: Type.Boolean(),
  loaded: Type.Boolean(),
  unloadable: Type.Boolean(),
  testable: Type.Boolean(),
  configuration: Type.Optional(Type.Unknown()),
  configurationSchema: Type.Unknown(),
});

const change = {
  result: Type.Boolean(),
  permission: "admin",
  changes: true,
} as const;

/** Defines an operation on a plug-in. */
const verb = (
  name: string,
  summary: string,
  run: (plugins: Plugins, id: string) => void | Promise<void>,
) =>
  defineOperation({
    ...change,
    name: `plugin.${name}`,
    summary,
    params: Params,
    async handler(params, { services }) {
      await run(services.plugins, params.id);
      return true;
    },
  });

const pluginGet = defineOperation({
  name: "plugin.get",
  summary: "List the plugins, without their secrets.",
  params: Type.Object({}),
  result: Type.Array(PublicPlugin),
  permission: "admin",
  handler: (_params, { services }): Static<typeof PublicPlugin>[] =>
    services.plugins.list(),
});

const pluginConfigure = defineOperation({
  ...change,
  name: "plugin.configure",
  summary:
    "Configure a plugin. Takes effect when the plugin is loaded the next time. Masked secrets are not changed.",
  params: Type.Object(
    {
      id,
      configuration: Type.Unknown({
        description:
          "New configuration, as the schema of the plugin describes it.",
      }),
    },
    closed,
  ),
  async handler(params, { services }) {
    await services.plugins.configure(params.id, params.configuration);
    return true;
  },
});

/** Built-in features that clients of Xen Orchestra know as plug-ins. */
export const pluginOperations = [
  pluginGet,
  pluginConfigure,
  verb("load", "Load a plugin.", (plugins, one) => {
    plugins.load(one);
  }),
  verb("unload", "Unload a plugin.", (plugins, one) => {
    plugins.unload(one);
  }),
  verb(
    "enableAutoload",
    "Enable automatic loading of a plugin at each start of the server.",
    (plugins, one) => plugins.setAutoload(one, true),
  ),
  verb(
    "disableAutoload",
    "Disable automatic loading of a plugin at each start of the server.",
    (plugins, one) => plugins.setAutoload(one, false),
  ),
  verb(
    "purgeConfiguration",
    "Delete the configuration of a plugin.",
    (plugins, one) => plugins.purge(one),
  ),
];
