import type { RouteRecordRaw } from "vue-router";
import { loadFiles } from "./browser/page-files.js";
import type { InitialLocale } from "./locale/use-locale.js";
import type { Messages } from "./locale/messages.js";

declare module "vue-router" {
  interface RouteMeta {
    /** The page name, in titles and in the side bar. */
    page: keyof Messages["shell"]["pages"];
    /** Also for anonymous users. */
    isPublic?: boolean;
    /** Without header and side bar. */
    isBare?: boolean;
  }
}

/** Loads a component together with all texts. */
type PageLoader = InitialLocale["withAllTexts"];

const list = (type: string) => ({
  component: () => loadFiles(() => import("./lists/ListPage.vue")),
  props: { type },
});

/** Lists of objects: they only need the texts of the initial view. */
const listRoutes: readonly RouteRecordRaw[] = [
  { path: "/vms", meta: { page: "vms" }, ...list("VM") },
  { path: "/templates", meta: { page: "templates" }, ...list("VM-template") },
  { path: "/snapshots", meta: { page: "snapshots" }, ...list("VM-snapshot") },
  { path: "/hosts", meta: { page: "hosts" }, ...list("host") },
  { path: "/pools", meta: { page: "pools" }, ...list("pool") },
  { path: "/srs", meta: { page: "srs" }, ...list("SR") },
  { path: "/vdis", meta: { page: "vdis" }, ...list("VDI") },
  { path: "/networks", meta: { page: "networks" }, ...list("network") },
  { path: "/pifs", meta: { page: "pifs" }, ...list("PIF") },
  { path: "/messages", meta: { page: "messages" }, ...list("message") },
];

/** Pages of single objects. */
function objectRoutes(page: PageLoader): readonly RouteRecordRaw[] {
  const vm = (type: string) => ({
    component: page(() => import("./details/vm/VmPage.vue")),
    props: ({ params }: { params: object }) => ({ type, ...params }),
  });
  return [
    { path: "/vms/:id/:tab?", meta: { page: "vms" }, ...vm("VM") },
    {
      path: "/templates/:id/:tab?",
      meta: { page: "templates" },
      ...vm("VM-template"),
    },
    {
      path: "/snapshots/:id/:tab?",
      meta: { page: "snapshots" },
      ...vm("VM-snapshot"),
    },
    {
      path: "/hosts/:id/:tab?",
      meta: { page: "hosts" },
      component: page(() => import("./details/host/HostPage.vue")),
      props: true,
    },
    {
      path: "/pools/:id/:tab?",
      meta: { page: "pools" },
      component: page(() => import("./details/pool/PoolPage.vue")),
      props: true,
    },
    {
      path: "/srs/:id/:tab?",
      meta: { page: "srs" },
      component: page(() => import("./details/sr/SrPage.vue")),
      props: true,
    },
    {
      path: "/networks/:id/:tab?",
      meta: { page: "networks" },
      component: page(() => import("./details/network/NetworkPage.vue")),
      props: true,
    },
  ];
}

/** Pages of all pools. */
function fleetRoutes(page: PageLoader): readonly RouteRecordRaw[] {
  return [
    {
      path: "/",
      meta: { page: "overview" },
      component: page(() => import("./overview/OverviewPage.vue")),
    },
    {
      path: "/new/vm",
      meta: { page: "newVm" },
      component: page(() => import("./create-vm/CreateVmPage.vue")),
    },
    {
      path: "/topology",
      meta: { page: "topology" },
      component: page(() => import("./topology/TopologyPage.vue")),
    },
    {
      path: "/storage-map",
      meta: { page: "storageMap" },
      component: page(() => import("./topology/StorageMapPage.vue")),
    },
    {
      path: "/placement/:tab?",
      meta: { page: "placement" },
      component: page(() => import("./placement/page/PlacementPage.vue")),
      props: true,
    },
    {
      path: "/backup/:tab?/:id?",
      meta: { page: "backup" },
      component: page(() => import("./backup/page/BackupPage.vue")),
      props: true,
    },
    {
      path: "/updates",
      meta: { page: "updates" },
      component: page(() => import("./updates/UpdatesPage.vue")),
    },
    {
      path: "/health-report",
      meta: { page: "health" },
      component: page(() => import("./health/HealthPage.vue")),
    },
    {
      path: "/tasks",
      meta: { page: "tasks" },
      component: page(() => import("./tasks/TasksPage.vue")),
    },
    {
      path: "/activity",
      meta: { page: "activity" },
      component: page(() => import("./activity/ActivityPage.vue")),
    },
  ];
}

/** Pages of the server and of the user, and what has no address. */
function serverRoutes(page: PageLoader): readonly RouteRecordRaw[] {
  return [
    { path: "/users", redirect: "/settings/users" },
    {
      path: "/settings/:section?",
      meta: { page: "settings" },
      component: page(() => import("./settings/SettingsPage.vue")),
      props: true,
    },
    {
      path: "/first-run",
      meta: { page: "firstRun" },
      component: page(() => import("./first-run/FirstRunPage.vue")),
    },
    {
      path: "/status",
      meta: { page: "status", isPublic: true },
      component: page(() => import("./status/StatusPage.vue")),
    },
    { path: "/sign-in", redirect: "/" },
    {
      path: "/consoles/:id",
      meta: { page: "console", isPublic: true, isBare: true },
      component: page(() => import("./consoles/ConsolePage.vue")),
      props: true,
    },
    {
      path: "/:rest(.*)*",
      meta: { page: "notFound" },
      component: page(() => import("./shell/NotFoundPage.vue")),
    },
  ];
}

/** Every page, by its address. Each is loaded on demand. */
export function createRoutes(page: PageLoader): readonly RouteRecordRaw[] {
  return [
    ...listRoutes,
    ...objectRoutes(page),
    ...fleetRoutes(page),
    ...serverRoutes(page),
  ];
}
