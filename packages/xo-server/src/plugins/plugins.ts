import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { Ajv } from "ajv";
import type { Logger } from "../log/logger.js";
import { openMetrics, type Plugin } from "./plugin.js";

interface PluginsOptions {
  readonly store: Pick<Store, "plugins">;
  readonly version: string;
  readonly logger: Pick<Logger, "warn">;
  /** Default: the built-in plugins. */
  readonly builtIn?: readonly Plugin[];
}

/** A plugin as clients see it. */
interface PluginView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly autoload: boolean;
  readonly loaded: boolean;
  readonly unloadable: boolean;
  readonly testable: boolean;
  readonly configuration?: object;
  readonly configurationSchema: object;
}

/** Represents a stored secret. As input it leaves the secret unchanged. */
const HIDDEN = "** obfuscated **";

type Configuration = Readonly<Record<string, unknown>>;

/**
 * Built-in plugins that can be loaded and unloaded. A changed configuration
 * takes effect with the next load.
 */
export class Plugins {
  readonly #options: PluginsOptions;
  readonly #plugins: ReadonlyMap<string, Plugin>;
  /** Loaded plugins with the configuration they were loaded with. */
  readonly #loaded = new Map<string, Configuration>();

  constructor(options: PluginsOptions) {
    this.#options = options;
    const { builtIn = [openMetrics] } = options;
    this.#plugins = new Map(builtIn.map((plugin) => [plugin.id, plugin]));
  }

  /** Loads the plugins with autoload. */
  start(): void {
    for (const id of this.#plugins.keys()) {
      if (this.#options.store.plugins.get(id)?.autoload !== true) continue;
      try {
        this.load(id);
      } catch (error) {
        this.#options.logger.warn(`plugin ${id} could not be loaded`, {
          error,
        });
      }
    }
  }

  list(): PluginView[] {
    return Array.from(this.#plugins.values(), (plugin) => this.#view(plugin));
  }

  /** @throws XoError NO_SUCH_OBJECT, INVALID_PARAMETERS */
  async configure(id: string, input: unknown): Promise<void> {
    const plugin = this.#find(id);
    const configuration = this.#fillHidden(plugin, input);
    const ajv = new Ajv({ allErrors: true });
    if (!ajv.validate(plugin.configurationSchema, configuration))
      throw new XoError("INVALID_PARAMETERS", {
        reason: ajv.errorsText(),
        errors: ajv.errors ?? [],
      });
    await this.#options.store.plugins.set(id, { configuration });
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async purge(id: string): Promise<void> {
    this.#find(id);
    await this.#options.store.plugins.set(id, { configuration: undefined });
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async setAutoload(id: string, autoload: boolean): Promise<void> {
    this.#find(id);
    await this.#options.store.plugins.set(id, { autoload });
  }

  /**
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN_OPERATION: already loaded, or not
   *   configured
   */
  load(id: string): void {
    this.#find(id);
    const configuration = this.#options.store.plugins.configuration(id);
    if (this.#loaded.has(id)) throw refused("load", "already loaded");
    if (configuration === undefined) throw refused("load", "not configured");
    this.#loaded.set(id, configuration as Configuration);
  }

  /** @throws XoError NO_SUCH_OBJECT, FORBIDDEN_OPERATION: not loaded */
  unload(id: string): void {
    this.#find(id);
    if (!this.#loaded.delete(id)) throw refused("unload", "not loaded");
  }

  /** Bearer token for /openmetrics; undefined: access is disabled. */
  openMetricsSecret(): string | undefined {
    const secret = this.#loaded.get(openMetrics.id)?.["secret"];
    return typeof secret === "string" ? secret : undefined;
  }

  #view(plugin: Plugin): PluginView {
    const { id, name, description, configurationSchema } = plugin;
    const { store, version } = this.#options;
    const configuration = store.plugins.configuration(id) as
      | Configuration
      | undefined;
    return {
      id,
      name,
      description,
      version,
      configurationSchema,
      autoload: store.plugins.get(id)?.autoload ?? false,
      loaded: this.#loaded.has(id),
      unloadable: true,
      testable: false,
      ...(configuration === undefined
        ? {}
        : { configuration: hide(plugin, configuration) }),
    };
  }

  #find(id: string): Plugin {
    const plugin = this.#plugins.get(id);
    if (plugin === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "plugin", id });
    return plugin;
  }

  #fillHidden({ id, secrets }: Plugin, input: unknown): unknown {
    if (typeof input !== "object" || input === null) return input;
    const old = this.#options.store.plugins.configuration(id);
    return Object.fromEntries(
      Object.entries(input).map(([key, value]) => [
        key,
        secrets.includes(key) && value === HIDDEN
          ? (Object(old) as Configuration)[key]
          : (value as unknown),
      ]),
    );
  }
}

function hide(
  { secrets }: Plugin,
  configuration: Configuration,
): Configuration {
  return Object.fromEntries(
    Object.entries(configuration).map(([key, value]) => [
      key,
      secrets.includes(key) ? HIDDEN : value,
    ]),
  );
}

function refused(verb: string, reason: string): XoError {
  return new XoError("FORBIDDEN_OPERATION", {
    operation: `${verb} plugin`,
    reason,
  });
}
