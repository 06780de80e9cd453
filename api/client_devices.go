package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Devices are the paired devices in one of these states; without any, all that
// were not revoked.
func (c *Client) Devices(ctx context.Context, states ...string) ([]Device, error) {
	path := "/v1/devices"
	if len(states) > 0 {
		path += "?state=" + url.QueryEscape(strings.Join(states, ","))
	}
	return all[Device](ctx, c, path)
}

// Device is one device.
func (c *Client) Device(ctx context.Context, id string) (*Device, error) {
	return call[Device](ctx, c, http.MethodGet, "/v1/devices/"+url.PathEscape(id), nil)
}

// FindDevice is the id of a device that was named by id or by its whole name.
func (c *Client) FindDevice(ctx context.Context, named string) (id string, err error) {
	if strings.HasPrefix(named, "dev_") {
		return named, nil
	}
	devices, err := c.Devices(ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, d := range devices {
		if d.Name == named {
			ids = append(ids, d.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("no device has the id or name %q: see rendermac devices", named)
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%d devices are named %q: say which by its id, %s", len(ids), named, strings.Join(ids, " or "))
}

// ChangeDevice sets what the change names, and answers how the device then is.
func (c *Client) ChangeDevice(ctx context.Context, id string, change DeviceChange) (*Device, error) {
	return call[Device](ctx, c, http.MethodPatch, "/v1/devices/"+url.PathEscape(id), change)
}

// RevokeDevice ends a pairing for good (F18).
func (c *Client) RevokeDevice(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, http.MethodDelete, "/v1/devices/"+url.PathEscape(id), nil)
	return err
}
