import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import t from "tap";
import {
  filesBelow,
  importsOf,
  packages,
  root,
  type Import,
} from "./sources.js";

/** What each package may import. `bin`, `bench` and `test` may import everything. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  certificate: [],
  backup: ["certificate", "zstd"],
  kit: [],
  model: [],
  zstd: [],
  filter: [],
  placement: [],
  perf: ["kit"],
  store: ["kit", "model"],
  "parser-pool": ["kit", "model"],
  "xen-api": ["certificate", "kit", "model"],
  inventory: ["filter", "kit", "model", "xen-api", "zstd"],
  "xapi-sim": ["certificate", "kit", "model"],
  "xo-cli": ["certificate", "kit", "model"],
  "xo-web": ["filter", "kit", "model", "placement"],
  "xo-server": [
    "backup",
    "certificate",
    "inventory",
    "kit",
    "model",
    "parser-pool",
    "perf",
    "placement",
    "store",
    "xen-api",
  ],
};

/** Packages of others that only tests and the build load: no source may import them. */
const notForSources = new Set([
  "@seriousme/openapi-schema-validator",
  "@vitejs/plugin-vue",
  "assemblyscript",
  "oidc-provider",
  "smtp-server",
  "vite",
  "vue-tsc",
]);

/** Packages that are loaded by a path or a command, so that no import names them. */
const usedWithoutImport = new Set([
  "@xo-server/xo-web", // xo-server serves its built files
  "node-expat", // parser-pool loads it by a name that is an option
  "@foxglove/wasm-zstd", // backup loads it where Node.js has no zstd
  "assemblyscript", // a command
  "vue-tsc", // a command
  "vite", // a command
]);

const scope = "@xo-server/";

t.test("every package is in the table of allowed imports", async (t) => {
  t.same(packages.toSorted(), Object.keys(allowed).toSorted());
});

for (const name of packages) {
  const folder = join(root, "packages", name);
  const sources = filesBelow(join(folder, "src"));
  // Only resolves the folder of a package by its manifest: not an import.
  const imports = sources
    .flatMap(importsOf)
    .filter(({ specifier }) => !specifier.endsWith("/package.json"));
  const all = [
    ...imports,
    ...filesBelow(join(folder, "test")).flatMap(importsOf),
  ];

  t.test(`${name} imports only the packages that it may`, async (t) => {
    const wrong = all
      .filter(({ specifier }) => specifier.startsWith(scope))
      .filter(({ specifier }) => {
        const target = specifier.slice(scope.length).split("/")[0]!;
        return target !== name && !allowed[name]?.includes(target);
      });
    t.same(wrong.map(describe), []);
  });

  t.test(
    `${name} imports other packages by their public entry only`,
    async (t) => {
      const wrong = all.filter(
        ({ specifier }) =>
          specifier.startsWith(scope) &&
          packageOf(specifier) !== scope + name &&
          specifier !== packageOf(specifier),
      );
      t.same(wrong.map(describe), []);
    },
  );

  t.test(`${name} has no relative path out of itself`, async (t) => {
    const wrong = all.filter(
      ({ file, specifier }) =>
        specifier.startsWith(".") &&
        !resolve(dirname(file), specifier).startsWith(folder + sep),
    );
    t.same(wrong.map(describe), []);
  });

  t.test(
    `${name} declares what it imports and imports what it declares`,
    async (t) => {
      const manifest = readManifest(folder);
      const declared = new Set([
        ...Object.keys(manifest.dependencies ?? {}),
        ...Object.keys(manifest.optionalDependencies ?? {}),
        ...Object.keys(manifest.devDependencies ?? {}).filter((one) =>
          isForSources(name, one),
        ),
      ]);
      const development = new Set([
        ...Object.keys(manifest.devDependencies ?? {}),
        ...Object.keys(readManifest(root).devDependencies ?? {}),
      ]);
      const undeclared = imports.filter(
        (one) =>
          isPackage(one.specifier) &&
          packageOf(one.specifier) !== scope + name &&
          !declared.has(packageOf(one.specifier)) &&
          !(one.typeOnly && development.has(typesOf(packageOf(one.specifier)))),
      );
      t.same(undeclared.map(describe), [], "nothing is imported undeclared");
      const used = new Set(all.map(({ specifier }) => packageOf(specifier)));
      for (const file of configFiles(folder))
        for (const { specifier } of importsOf(file))
          used.add(packageOf(specifier));
      const unused = [
        ...declared,
        ...Object.keys(manifest.devDependencies ?? {}),
      ]
        .filter((dependency) => !dependency.startsWith("@types/"))
        .filter(
          (dependency) =>
            !used.has(dependency) && !usedWithoutImport.has(dependency),
        );
      t.same(unused, [], "nothing is declared unused");
    },
  );

  t.test(`${name} has no import cycle`, async (t) => {
    t.same(findCycle(imports), []);
  });
}

t.test("dependencies are what the bundle leaves out", async (t) => {
  const text = readFileSync(join(root, "bin/dist/external.json"), "utf8");
  const external = JSON.parse(text) as readonly string[];
  const declared = packages
    .map((name) => readManifest(join(root, "packages", name)))
    .flatMap(({ dependencies = {}, optionalDependencies = {} }) => [
      ...Object.keys(dependencies),
      ...Object.keys(optionalDependencies),
    ])
    .filter((name) => !name.startsWith(scope));
  t.same(
    [...new Set(declared)].toSorted(),
    [...external, "node-expat"].toSorted(),
    "what is bundled is a development dependency",
  );
});

t.test("no folder is called utils, common, helpers or misc", async (t) => {
  const wrong = packages
    .flatMap((name) => filesBelow(join(root, "packages", name, "src")))
    .filter((file) =>
      /[\\/](utils?|common|helpers?|misc)([\\/]|\.ts$)/.test(file),
    );
  t.same(wrong, []);
});

t.test("only bin, bench and test start the simulator", async (t) => {
  const wrong = packages
    .filter((name) => name !== "xapi-sim")
    .flatMap((name) => filesBelow(join(root, "packages", name)))
    .flatMap(importsOf)
    .filter(({ specifier }) => specifier.startsWith(`${scope}xapi-sim`));
  t.same(wrong.map(describe), []);
});

function readManifest(folder: string) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
    optionalDependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
}

/**
 * May the sources of a package import what it declares as a development dependency? The
 * bundle contains packages of others, and the built page contains ours too.
 */
function isForSources(name: string, dependency: string): boolean {
  return dependency.startsWith(scope)
    ? name === "xo-web"
    : !notForSources.has(dependency);
}

function configFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /\.config\.(ts|js|mjs)$/.test(name))
    .map((name) => join(folder, name));
}

function isPackage(specifier: string): boolean {
  return !specifier.startsWith(".") && !isBuiltin(specifier);
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function typesOf(name: string): string {
  return `@types/${name.replace(/^@/, "").replace("/", "__")}`;
}

function describe({ file, specifier }: Import): string {
  return `${relative(root, file)} imports ${specifier}`;
}

/** The files of one cycle of relative imports, or none. Types count: a cycle of types is a cycle to the reader. */
function findCycle(imports: readonly Import[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { file, specifier } of imports) {
    if (!specifier.startsWith(".")) continue;
    const target = resolve(dirname(file), specifier).replace(/\.js$/, ".ts");
    edges.set(file, [...(edges.get(file) ?? []), target]);
  }
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): string[] => {
    const start = path.indexOf(file);
    if (start >= 0)
      return [...path.slice(start), file].map((f) => relative(root, f));
    if (done.has(file)) return [];
    for (const next of edges.get(file) ?? []) {
      const cycle = walk(next, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of edges.keys()) {
    const cycle = walk(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
