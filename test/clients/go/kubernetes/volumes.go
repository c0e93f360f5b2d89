package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid"
	"github.com/vatesfr/xenorchestra-go-sdk/pkg/payloads"
	"github.com/vatesfr/xenorchestra-go-sdk/pkg/services/library"
)

const (
	mebibyte = 1 << 20
	within   = 30 * time.Second
)

// A volume from its making to its end, on the node's pool.
func volumes(ctx context.Context, xo library.Library, node *payloads.VM) error {
	sr, err := storage(ctx, xo, node)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	volume, err := create(ctx, xo, sr)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	vbd, err := attach(ctx, xo, node, volume)
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	if err := detach(ctx, xo, vbd); err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	if err := xo.VDI().Delete(ctx, volume); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if _, err := xo.VDI().Get(ctx, volume); err == nil {
		return fmt.Errorf("it is still there")
	}
	return nil
}

// A shared SR of the pool that the node's host reaches; local ones are looked for as well.
func storage(ctx context.Context, xo library.Library, node *payloads.VM) (uuid.UUID, error) {
	local := "content_type:user !shared? !inMaintenanceMode? $PBDs:length:>=1 $container:" + node.Container.String()
	if _, err := xo.SR().GetAll(ctx, 0, local); err != nil {
		return uuid.Nil, err
	}
	shared := "content_type:user shared? !inMaintenanceMode? $PBDs:length:>=1 $pool:" + node.PoolID.String()
	srs, err := xo.SR().GetAll(ctx, 0, shared)
	if err != nil || len(srs) == 0 {
		return uuid.Nil, fmt.Errorf("no shared SR: %v", err)
	}
	for _, sr := range srs {
		reached := fmt.Sprintf("SR:%s host:%s attached?", sr.ID, node.Container)
		pbds, err := xo.PBD().GetAll(ctx, 0, reached)
		if err != nil {
			return uuid.Nil, err
		}
		if len(pbds) == 1 {
			return sr.ID, nil
		}
	}
	return uuid.Nil, fmt.Errorf("the host reaches none of %d", len(srs))
}

// Making it twice makes one: the driver looks by name first.
func create(ctx context.Context, xo library.Library, sr uuid.UUID) (uuid.UUID, error) {
	const name = "csi-pvc-made-up"
	byName := func() ([]*payloads.VDI, error) { return xo.VDI().GetAll(ctx, 0, "name_label:"+name) }
	known, err := byName()
	if err != nil || len(known) != 0 {
		return uuid.Nil, fmt.Errorf("%d are there: %v", len(known), err)
	}
	id, err := xo.VDI().Create(ctx, payloads.VDICreateParams{
		SRId: sr, NameLabel: name, NameDescription: "made by a test", VirtualSize: 64 * mebibyte,
		OtherConfig: map[string]string{"csi:made": "here"},
	})
	if err != nil {
		return uuid.Nil, err
	}
	if err := xo.VDI().AddTag(ctx, id, "kubernetes"); err != nil {
		return uuid.Nil, fmt.Errorf("tag: %w", err)
	}
	known, err = byName()
	if err != nil || len(known) != 1 || known[0].ID != id {
		return uuid.Nil, fmt.Errorf("%d are there: %v", len(known), err)
	}
	one := known[0]
	if one.Size != 64*mebibyte || one.SR != sr || one.OtherConfig["csi:made"] != "here" || len(one.Tags) != 1 {
		return uuid.Nil, fmt.Errorf("it is %+v", one)
	}
	return id, nil
}

func attach(ctx context.Context, xo library.Library, node *payloads.VM, volume uuid.UUID) (uuid.UUID, error) {
	id, err := xo.VBD().Create(ctx, &payloads.CreateVBDParams{
		VM: node.ID, VDI: volume, Mode: payloads.VBDModeRW, Type: payloads.VBDTypeDisk,
	})
	if err != nil {
		return uuid.Nil, err
	}
	both := fmt.Sprintf("VDI:%s VM:%s", volume, node.ID)
	vbds, err := xo.VBD().GetAll(ctx, 0, both)
	if err != nil || len(vbds) != 1 || vbds[0].ID != id {
		return uuid.Nil, fmt.Errorf("%d VBDs: %v", len(vbds), err)
	}
	if !vbds[0].Attached {
		task, err := xo.VBD().Connect(ctx, id)
		if err := succeeds(ctx, xo, task, err); err != nil {
			return uuid.Nil, fmt.Errorf("connect: %w", err)
		}
	}
	vbd, err := xo.VBD().Get(ctx, id)
	if err != nil || !vbd.Attached || vbd.Device == nil || *vbd.Device == "" {
		return uuid.Nil, fmt.Errorf("not attached: %+v, %v", vbd, err)
	}
	return id, nil
}

func detach(ctx context.Context, xo library.Library, vbd uuid.UUID) error {
	task, err := xo.VBD().Disconnect(ctx, vbd)
	if err := succeeds(ctx, xo, task, err); err != nil {
		return fmt.Errorf("disconnect: %w", err)
	}
	if is, err := xo.VBD().Get(ctx, vbd); err != nil || is.Attached {
		return fmt.Errorf("still attached: %v", err)
	}
	if err := xo.VBD().Delete(ctx, vbd); err != nil {
		return err
	}
	if _, err := xo.VBD().Get(ctx, vbd); err == nil {
		return fmt.Errorf("it is still there")
	}
	return nil
}

func succeeds(ctx context.Context, xo library.Library, task string, err error) error {
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ended, err := xo.Task().Wait(ctx, task)
	if err != nil {
		return err
	}
	if ended.Status != payloads.Success {
		return fmt.Errorf("task %s: %s", ended.Status, ended.Result.Message)
	}
	return nil
}
