// What the Terraform provider for Xen Orchestra does, resource by resource, in
// its order, through the client that it is built on (SDK v1). One line each on
// stdout: "ok NAME" or "FAILED NAME: why"; exit code 1 where one failed.
//
// Environment: XOA_URL, XOA_USER, XOA_PASSWORD as for the provider, and what it
// finds by name: XOA_POOL, XOA_STORAGE, XOA_NETWORK, XOA_TEMPLATE.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/vatesfr/xenorchestra-go-sdk/client"
)

// Known are the objects that data sources found for the resources.
type known struct {
	pool     client.Pool
	sr       client.StorageRepository
	network  client.Network
	template client.Template
	pif      client.PIF
}

func main() {
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	slog.SetDefault(quiet)
	c, err := client.NewClientWithLogger(client.GetConfigFromEnv(), quiet)
	if err != nil {
		fmt.Println("FAILED sign-in:", err)
		os.Exit(1)
	}
	objects, err := dataSources(c)
	report("data sources", err)
	if err != nil {
		os.Exit(1)
	}
	report("cloud_config", cloudConfig(c))
	report("network", network(c, objects))
	report("vdi", vdi(c, objects))
	report("acl and user", acl(c, objects))
	report("resource_set", resourceSet(c, objects))
	report("vm", vm(c, objects))
	os.Exit(code)
}

var code = 0

func report(name string, err error) {
	if err == nil {
		fmt.Println("ok", name)
		return
	}
	code = 1
	fmt.Printf("FAILED %s: %v\n", name, err)
}

// Each is called only where the ones before have succeeded.
func inOrder(steps ...step) error {
	for _, one := range steps {
		if err := one.do(); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

type step struct {
	name string
	do   func() error
}

func differs(what string, is, wanted any) error {
	if fmt.Sprint(is) == fmt.Sprint(wanted) {
		return nil
	}
	return fmt.Errorf("%s is %v, not %v", what, is, wanted)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
