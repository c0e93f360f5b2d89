package main

import (
	"fmt"
	"time"

	"github.com/vatesfr/xenorchestra-go-sdk/client"
)

const gibibyte = 1 << 30

// The VM as somebody wrote it; a second plan is empty where it reads back so.
func written(objects known) client.Vm {
	disk := func(name string, gibibytes int) client.Disk {
		return client.Disk{VDI: client.VDI{
			SrId: objects.sr.Id, NameLabel: name, NameDescription: "of terraform", Size: gibibytes * gibibyte,
		}}
	}
	return client.Vm{
		NameLabel: "from terraform", NameDescription: "made in a test",
		Template: objects.template.Id, CloneType: client.CloneTypeFullClone,
		CPUs:   client.CPUs{Number: 2},
		Memory: client.MemoryObject{Static: []int{0, 4 * gibibyte}, Dynamic: []int{2 * gibibyte, 4 * gibibyte}},
		Boot:   client.Boot{Firmware: "bios"},
		Disks:  []client.Disk{disk("root", 200), disk("data", 500), disk("more", 1)},
		VIFsMap: []map[string]string{
			{"network": objects.network.Id, "mac": "02:00:00:00:00:01"},
		},
		Tags: []string{"terraform", "test"}, HA: "", Vga: "std",
		Videoram: client.Videoram{Value: 16}, StartDelay: 3,
		CloudConfig:  "#cloud-config\nhostname: made\n",
		PowerState:   client.RunningPowerState,
		XenstoreData: map[string]interface{}{"vm-data/made": "here"},
	}
}

func vm(c client.XOClient, objects known) error {
	wanted := written(objects)
	created, err := c.CreateVm(wanted, 2*time.Minute)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	id := created.Id
	changed := wanted
	changed.Id, changed.NameLabel, changed.CPUs.Number = id, "changed", 3
	changed.Memory = client.MemoryObject{Static: []int{0, 8 * gibibyte}, Dynamic: []int{2 * gibibyte, 8 * gibibyte}}
	// What the provider leaves out of an update: the client would look for VMs by it.
	changed.PowerState, changed.Tags = "", nil
	changed.BlockedOperations = map[string]string{"clone": "true"}
	return inOrder(
		step{"the plan is empty", func() error { return planIsEmpty(c, id, wanted) }},
		step{"halt", func() error { return c.HaltVm(id) }},
		step{"update", func() error { _, err := c.UpdateVm(changed); return err }},
		step{"tags", func() error { return firstOf(c.RemoveTag(id, "test"), c.AddTag(id, "changed")) }},
		step{"start", func() error { return c.StartVm(id) }},
		step{"as changed", func() error { return asChanged(c, id) }},
		step{"disks", func() error { return disks(c, objects, id) }},
		step{"networks", func() error { return networks(c, objects, id) }},
		step{"cd", func() error { return cd(c, id) }},
		step{"pause", func() error { return c.PauseVm(id) }},
		step{"go on", func() error { return c.StartVm(id) }},
		step{"suspend", func() error { return c.SuspendVm(id) }},
		step{"resume", func() error { return c.StartVm(id) }},
		step{"destroy", func() error { return c.DeleteVm(id) }},
		step{"gone", func() error { _, err := c.GetVm(client.Vm{Id: id}); return notFound(err) }},
	)
}

func planIsEmpty(c client.XOClient, id string, wanted client.Vm) error {
	is, err := c.GetVm(client.Vm{Id: id})
	if err != nil {
		return err
	}
	if err := firstOf(
		differs("name", is.NameLabel, wanted.NameLabel),
		differs("description", is.NameDescription, wanted.NameDescription),
		differs("template", is.Template, wanted.Template),
		differs("CPUs", is.CPUs.Number, wanted.CPUs.Number),
		differs("dynamic memory", is.Memory.Dynamic, wanted.Memory.Dynamic),
		differs("static memory", is.Memory.Static[1], wanted.Memory.Static[1]),
		differs("firmware", is.Boot.Firmware, wanted.Boot.Firmware),
		differs("tags", len(is.Tags), 2),
		differs("VGA", is.Vga, wanted.Vga),
		differs("video RAM", is.Videoram.Value, wanted.Videoram.Value),
		differs("start delay", is.StartDelay, wanted.StartDelay),
		differs("HA", is.HA, ""),
		differs("power", is.PowerState, client.RunningPowerState),
		differs("XenStore", is.XenstoreData["vm-data/made"], "here"),
	); err != nil {
		return err
	}
	vifs, err := c.GetVIFs(is)
	if err != nil {
		return err
	}
	if len(vifs) != 1 {
		return fmt.Errorf("it has %d VIFs: %v", len(vifs), vifs)
	}
	disks, err := c.GetDisks(is)
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, disk := range disks {
		sizes[disk.NameLabel] = disk.Size / gibibyte
	}
	return firstOf(
		differs("MAC", vifs[0].MacAddress, "02:00:00:00:00:01"),
		differs("network", vifs[0].Network, wanted.VIFsMap[0]["network"]),
		differs("attached", vifs[0].Attached, true),
		differs("root", sizes["root"], 200),
		differs("data", sizes["data"], 500),
		differs("more", sizes["more"], 1),
	)
}

func asChanged(c client.XOClient, id string) error {
	is, err := c.GetVm(client.Vm{Id: id})
	if err != nil {
		return err
	}
	return firstOf(
		differs("name", is.NameLabel, "changed"),
		differs("CPUs", is.CPUs.Number, 3),
		differs("memory", is.Memory.Dynamic, []int{2 * gibibyte, 8 * gibibyte}),
		differs("blocked", is.BlockedOperations["clone"], "true"),
		differs("tags", len(is.Tags), 2),
	)
}

func disks(c client.XOClient, objects known, id string) error {
	vm := client.Vm{Id: id}
	added := client.Disk{VDI: client.VDI{SrId: objects.sr.Id, NameLabel: "added", Size: gibibyte}}
	if _, err := c.CreateDisk(vm, added); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	find := func() (client.Disk, error) {
		all, err := c.GetDisks(&vm)
		for _, one := range all {
			if one.NameLabel == "added" {
				return one, err
			}
		}
		return client.Disk{}, fmt.Errorf("it is not there: %v", err)
	}
	disk, err := find()
	if err != nil {
		return err
	}
	return inOrder(
		step{"attached by itself", func() error { return differs("attached", disk.Attached, true) }},
		step{"disconnect", func() error { return c.DisconnectDisk(disk) }},
		step{"connect", func() error { return c.ConnectDisk(disk) }},
		step{"connected", func() error {
			is, err := find()
			return firstOf(err, differs("attached", is.Attached, true))
		}},
		step{"rename", func() error { disk.NameDescription = "described"; return c.UpdateVDI(disk) }},
		step{"renamed", func() error {
			is, err := find()
			return firstOf(err, differs("description", is.NameDescription, "described"))
		}},
		step{"detach for growing", func() error { return c.DisconnectDisk(disk) }},
		step{"grow", func() error { disk.Size = 2 * gibibyte; return c.ResizeVDI(disk) }},
		step{"grown", func() error {
			var err error
			disk, err = find()
			return firstOf(err, differs("size", disk.Size, 2*gibibyte))
		}},
		step{"attach for deleting", func() error { disk.Attached = true; return c.ConnectDisk(disk) }},
		step{"delete", func() error { return c.DeleteDisk(vm, disk) }},
	)
}

func networks(c client.XOClient, objects known, id string) error {
	vm := client.Vm{Id: id}
	vif, err := c.CreateVIF(&vm, &client.VIF{Network: objects.network.Id, MacAddress: "02:00:00:00:00:02"})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return inOrder(
		step{"as written", func() error { return differs("MAC", vif.MacAddress, "02:00:00:00:00:02") }},
		step{"disconnect", func() error { return c.DisconnectVIF(vif) }},
		step{"connect", func() error { return c.ConnectVIF(vif) }},
		step{"delete", func() error { return c.DeleteVIF(vif) }},
		step{"one is left", func() error {
			vifs, err := c.GetVIFs(&vm)
			return firstOf(err, differs("VIFs", len(vifs), 1))
		}},
	)
}

func cd(c client.XOClient, id string) error {
	srs, err := c.GetStorageRepository(client.StorageRepository{NameLabel: "ISO library"})
	if err != nil {
		return err
	}
	all, err := c.GetAllVDIs()
	if err != nil {
		return err
	}
	for _, iso := range all {
		if iso.SrId == srs[0].Id {
			return inOrder(
				step{"insert", func() error { return c.InsertCd(id, iso.VDIId) }},
				step{"inserted", func() error {
					cds, err := c.GetCdroms(&client.Vm{Id: id})
					one, err := only(cds, err)
					return firstOf(err, differs("CD", one.VDIId, iso.VDIId))
				}},
				step{"eject", func() error { return c.EjectCd(id) }},
			)
		}
	}
	return fmt.Errorf("the ISO library is empty")
}
