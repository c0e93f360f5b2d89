package main

import (
	"fmt"
	"os"

	"github.com/vatesfr/xenorchestra-go-sdk/client"
)

func cloudConfig(c client.XOClient) error {
	created, err := c.CreateCloudConfig("from terraform", "#cloud-config\n")
	if err != nil {
		return err
	}
	return inOrder(
		step{"read", func() error {
			read, err := c.GetCloudConfig(created.Id)
			if err != nil || read == nil {
				return fmt.Errorf("it is not there: %v", err)
			}
			return differs("template", read.Template, "#cloud-config\n")
		}},
		step{"by name", func() error {
			_, err := only(c.GetCloudConfigByName("from terraform"))
			return err
		}},
		step{"delete", func() error { return c.DeleteCloudConfig(created.Id) }},
		step{"gone", func() error {
			read, err := c.GetCloudConfig(created.Id)
			return firstOf(err, differs("it is gone", read == nil, true))
		}},
	)
}

func network(c client.XOClient, objects known) error {
	created, err := c.CreateNetwork(client.CreateNetworkRequest{
		Automatic: true, DefaultIsLocked: true, Pool: objects.pool.Id,
		Name: "from terraform", Description: "a VLAN", Mtu: 1450,
		PIF: objects.pif.Id, Vlan: 777,
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	label, unlocked := "renamed", false
	return inOrder(
		step{"as written", func() error {
			return firstOf(
				differs("name", created.NameLabel, "from terraform"),
				differs("description", created.NameDescription, "a VLAN"),
				differs("MTU", created.MTU, 1450),
				differs("automatic", created.Automatic, true),
				differs("locked", created.DefaultIsLocked, true),
				differs("it has PIFs", len(created.PIFs) > 0, true),
			)
		}},
		step{"its PIF", func() error {
			pifs, err := c.GetPIF(client.PIF{Network: created.Id, Vlan: 777})
			return firstOf(err, differs("PIFs with the VLAN", len(pifs) > 0, true))
		}},
		step{"update", func() error {
			updated, err := c.UpdateNetwork(client.UpdateNetworkRequest{
				Id: created.Id, NameLabel: &label, DefaultIsLocked: &unlocked,
			})
			if err != nil {
				return err
			}
			return firstOf(differs("name", updated.NameLabel, label),
				differs("locked", updated.DefaultIsLocked, false),
				differs("automatic", updated.Automatic, false))
		}},
		step{"delete", func() error { return c.DeleteNetwork(created.Id) }},
		step{"gone", func() error {
			_, err := c.GetNetwork(client.Network{Id: created.Id})
			return notFound(err)
		}},
	)
}

func vdi(c client.XOClient, objects known) error {
	file, err := os.CreateTemp("", "vdi-*.iso")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := file.Truncate(2 << 20); err != nil {
		return err
	}
	created, err := c.CreateVDI(client.CreateVDIReq{
		SRId: objects.sr.Id, Filepath: file.Name(), Type: "raw", NameLabel: "from terraform",
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return firstOf(
		differs("name", created.NameLabel, "from terraform"),
		differs("size", created.Size, 2<<20),
		c.DeleteVDI(created.VDIId),
	)
}

func acl(c client.XOClient, objects known) error {
	user, err := c.CreateUser(client.User{Email: "terraformer", Password: "made up here"})
	if err != nil {
		return fmt.Errorf("user: %w", err)
	}
	vms, err := c.GetVms(client.Vm{PoolId: objects.pool.Id})
	if err != nil {
		return err
	}
	wanted := client.Acl{Subject: user.Id, Object: vms[0].Id, Action: "operator"}
	created, err := c.CreateAcl(wanted)
	if err != nil {
		return fmt.Errorf("acl: %w", err)
	}
	return inOrder(
		step{"read", func() error {
			read, err := c.GetAcl(client.Acl{Id: created.Id})
			if err != nil {
				return err
			}
			return firstOf(differs("subject", read.Subject, user.Id),
				differs("object", read.Object, vms[0].Id),
				differs("action", read.Action, "operator"))
		}},
		step{"delete", func() error { return c.DeleteAcl(client.Acl{Id: created.Id}) }},
		step{"gone", func() error {
			_, err := c.GetAcl(client.Acl{Id: created.Id})
			return notFound(err)
		}},
		step{"delete the user", func() error { return c.DeleteUser(*user) }},
	)
}

func resourceSet(c client.XOClient, objects known) error {
	user, err := c.GetCurrentUser()
	if err != nil {
		return err
	}
	created, err := c.CreateResourceSet(client.ResourceSet{
		Name: "from terraform", Subjects: []string{user.Id},
		Objects: []string{objects.sr.Id, objects.network.Id},
		Limits:  client.ResourceSetLimits{Cpus: client.ResourceSetLimit{Total: 20, Available: 20}},
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	set := *created
	read := func() (*client.ResourceSet, error) { return c.GetResourceSetById(set.Id) }
	return inOrder(
		step{"read", func() error {
			is, err := read()
			if err != nil {
				return err
			}
			return firstOf(differs("name", is.Name, "from terraform"),
				differs("subjects", is.Subjects, set.Subjects),
				differs("objects", len(is.Objects), 2),
				differs("CPUs", is.Limits.Cpus.Total, 20))
		}},
		step{"remove object", func() error { return c.RemoveResourceSetObject(set, objects.network.Id) }},
		step{"add object", func() error { return c.AddResourceSetObject(set, objects.template.Id) }},
		step{"remove subject", func() error { return c.RemoveResourceSetSubject(set, user.Id) }},
		step{"add subject", func() error { return c.AddResourceSetSubject(set, user.Id) }},
		step{"add limit", func() error { return c.AddResourceSetLimit(set, "memory", 1<<30) }},
		step{"remove limit", func() error { return c.RemoveResourceSetLimit(set, "cpus") }},
		step{"as changed", func() error {
			is, err := read()
			if err != nil {
				return err
			}
			return firstOf(differs("memory", is.Limits.Memory.Total, 1<<30),
				differs("CPUs", is.Limits.Cpus.Total, 0),
				differs("objects", len(is.Objects), 2))
		}},
		step{"delete", func() error { return c.DeleteResourceSet(client.ResourceSet{Id: set.Id}) }},
		step{"gone", func() error {
			_, err := read()
			return notFound(err)
		}},
	)
}

func notFound(err error) error {
	if _, is := err.(client.NotFound); is {
		return nil
	}
	return fmt.Errorf("still there, or another error: %v", err)
}
