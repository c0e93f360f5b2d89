// What Kubernetes asks of Xen Orchestra through SDK v2: the cloud controller
// manager (which nodes are there, where do they run) and the CSI driver (make,
// attach, detach and delete a volume). "ok NAME" or "FAILED NAME: why" a line;
// exit code 1 where one failed.
//
// Environment: XOA_URL, XOA_TOKEN (or XOA_USER and XOA_PASSWORD), XOA_POOL.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gofrs/uuid"
	"github.com/vatesfr/xenorchestra-go-sdk/pkg/config"
	"github.com/vatesfr/xenorchestra-go-sdk/pkg/payloads"
	"github.com/vatesfr/xenorchestra-go-sdk/pkg/services/library"
	v2 "github.com/vatesfr/xenorchestra-go-sdk/v2"
)

func main() {
	settings, err := config.New()
	if err != nil {
		fmt.Println("FAILED config:", err)
		os.Exit(1)
	}
	settings.LogOutputPaths = []string{"stderr"}
	settings.LogErrorOutputPaths = []string{"stderr"}
	xo, err := v2.New(settings)
	if err != nil {
		fmt.Println("FAILED sign-in:", err)
		os.Exit(1)
	}
	ctx := context.Background()
	node, err := nodes(ctx, xo)
	report("cloud controller manager", err)
	if err == nil {
		report("CSI driver", volumes(ctx, xo, node))
	}
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

// A node that runs, found as the cloud controller manager finds it.
func nodes(ctx context.Context, xo library.Library) (*payloads.VM, error) {
	if _, err := xo.VM().GetAll(ctx, 1, ""); err != nil {
		return nil, fmt.Errorf("is XO there: %w", err)
	}
	vms, err := xo.VM().GetAll(ctx, 0, "")
	if err != nil {
		return nil, fmt.Errorf("all VMs: %w", err)
	}
	for _, one := range vms {
		if one.PowerState != payloads.PowerStateRunning || one.MainIpAddress == "" {
			continue
		}
		vm, err := xo.VM().GetByID(ctx, one.ID)
		if err != nil {
			return nil, err
		}
		// Some firmwares report to the node its id with the bytes of three parts the other way round.
		if _, err := xo.VM().GetByID(ctx, swapped(one.ID)); err == nil {
			return nil, fmt.Errorf("there is a VM of another id")
		}
		host, err := xo.Host().Get(ctx, vm.Container)
		if err != nil {
			return nil, fmt.Errorf("zone: %w", err)
		}
		pool, err := xo.Pool().Get(ctx, vm.PoolID)
		if err != nil {
			return nil, fmt.Errorf("region: %w", err)
		}
		if host.NameLabel == "" || pool.NameLabel == "" || vm.CPUs.Number < 1 || vm.Memory.Size < 1 {
			return nil, fmt.Errorf("%v lacks something", vm)
		}
		return vm, nil
	}
	return nil, fmt.Errorf("no VM runs")
}

func swapped(id uuid.UUID) uuid.UUID {
	for _, part := range [][2]int{{0, 4}, {4, 6}, {6, 8}} {
		for from, to := part[0], part[1]-1; from < to; from, to = from+1, to-1 {
			id[from], id[to] = id[to], id[from]
		}
	}
	return id
}
