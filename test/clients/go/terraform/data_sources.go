package main

import (
	"fmt"
	"os"

	"github.com/vatesfr/xenorchestra-go-sdk/client"
)

func dataSources(c client.XOClient) (known, error) {
	var found known
	return found, inOrder(
		step{"pool", func() error {
			pools, err := c.GetPoolByName(os.Getenv("XOA_POOL"))
			found.pool, err = only(pools, err)
			return firstOf(err, differs("a pool without cores", found.pool.Cpus.Cores > 0, true))
		}},
		step{"host", func() error {
			host, err := c.GetHostById(found.pool.Master)
			return firstOf(err, differs("memory known", host.Memory.Size > 0, true))
		}},
		step{"hosts", func() error {
			hosts, err := c.GetSortedHosts(client.Host{Pool: found.pool.Id}, "name_label", "asc")
			return firstOf(err, differs("hosts", len(hosts) > 1, true))
		}},
		step{"sr", func() error {
			srs, err := c.GetStorageRepository(client.StorageRepository{
				NameLabel: os.Getenv("XOA_STORAGE"), PoolId: found.pool.Id,
			})
			found.sr, err = only(srs, err)
			return err
		}},
		step{"network", func() error {
			network, err := c.GetNetwork(client.Network{
				NameLabel: os.Getenv("XOA_NETWORK"), PoolId: found.pool.Id,
			})
			if err == nil {
				found.network = *network
			}
			return err
		}},
		step{"pif", func() error {
			pifs, err := c.GetPIFByDevice("bond0", -1)
			if err == nil && len(pifs) > 0 {
				found.pif = pifs[0]
			}
			return firstOf(err, differs("PIFs of bond0", len(pifs) > 0, true))
		}},
		step{"template", func() error {
			templates, err := c.GetTemplate(client.Template{
				NameLabel: os.Getenv("XOA_TEMPLATE"), PoolId: found.pool.Id,
			})
			found.template, err = only(templates, err)
			return err
		}},
		step{"default template", func() error {
			templates, err := c.GetTemplate(client.Template{
				NameLabel: "Debian Bookworm 12", PoolId: found.pool.Id,
			})
			one, err := only(templates, err)
			return firstOf(err, differs("disks of it", len(one.TemplateInfo.Disks), 1))
		}},
		step{"vms", func() error {
			vms, err := c.GetVms(client.Vm{PoolId: found.pool.Id})
			return firstOf(err, differs("VMs", len(vms) > 10, true))
		}},
		step{"user", func() error {
			user, err := c.GetUser(client.User{Email: os.Getenv("XOA_USER")})
			if err != nil {
				return err
			}
			current, err := c.GetCurrentUser()
			return firstOf(err, differs("current user", current.Id, user.Id))
		}},
	)
}

func only[T any](all []T, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	if len(all) != 1 {
		return none, fmt.Errorf("there are %d", len(all))
	}
	return all[0], nil
}
