package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"rendermac/fetch"
)

// Resumed is called by a download that an earlier process has left unfinished:
// so many bytes are there.
type Resumed func(held int64)

const (
	rangesAtOnce  = 4                // of an object store of its own
	rangesOfOurs  = 1                // of our own, which reads one disk in order
	downloadStill = 30 * time.Second // after which a request that moves nothing is made again
)

// Download writes a job's output to path once its length and digest are the
// job's. Nothing is overwritten without force, and nothing half-done is left
// under that name: what an end of this process leaves is hidden beside it, and
// the next call goes on with it.
func (c *Client) Download(ctx context.Context, job *Job, path string, force bool, progress func(int64)) error {
	return c.ResumeDownload(ctx, job, path, force, nil, progress)
}

// ResumeDownload is Download that says so where it goes on with an earlier one.
func (c *Client) ResumeDownload(ctx context.Context, job *Job, path string, force bool, resumed Resumed, progress func(int64)) error {
	if job.Artifact == nil {
		return fmt.Errorf("job %s has no output: it is %s", job.ID, job.Status)
	}
	temp := partName(path, job.ID)
	if info, err := os.Lstat(path); err == nil && !force {
		if left, err := os.Lstat(temp); err == nil && os.SameFile(info, left) {
			os.Remove(temp) // of a process that ended when the file had just got its name
		}
		return fmt.Errorf("%s exists: pass --force to overwrite it", path)
	}
	first, err := again(ctx, c, func() (*string, error) { return c.output(ctx, job.ID) })
	if err != nil {
		return err
	}
	err = fetch.To(ctx, fetch.Options{
		Path: temp, Bytes: job.Artifact.Bytes, SHA256: job.Artifact.SHA256, AtOnce: c.atOnce(*first),
		URL: c.outputs(job.ID, *first), Client: c.blobs, Resumed: resumed, Progress: progress,
		Retry: fetch.Retry{Backoff: c.backoffFrom, Patience: c.patience, Idle: downloadStill},
	})
	if err != nil {
		return fmt.Errorf("download of %s: %w", job.ID, downloadFault(ctx, err))
	}
	return publish(temp, path, force)
}

// partName is where a job's file is until it is whole: hidden, in its own folder,
// under a name that the folder can hold and no other job has.
func partName(path, job string) string {
	name, sum := filepath.Base(path), sha256.Sum256([]byte(job))
	if len(name) > 200 {
		name = ""
	}
	return filepath.Join(filepath.Dir(path), "."+name+"."+hex.EncodeToString(sum[:4])+".rendermac-part")
}

// atOnce is how many ranges are asked for at once: more of a store that is not
// this server.
func (c *Client) atOnce(address string) int {
	if c.isOurs(address) {
		return rangesOfOurs
	}
	return rangesAtOnce
}

// isOurs tells whether an address is the server's own, and not its store's.
func (c *Client) isOurs(address string) bool {
	own, err := url.Parse(c.url)
	to, fault := url.Parse(address)
	return err == nil && fault == nil && to.Host == own.Host
}

// outputs gives the first URL, and a fresh one whenever it is asked again.
func (c *Client) outputs(id, first string) func(context.Context) (string, http.Header, error) {
	header := http.Header{"User-Agent": {c.agent}}
	return func(ctx context.Context) (string, http.Header, error) {
		if now := first; now != "" {
			first = ""
			return now, header, nil
		}
		fresh, err := c.output(ctx, id)
		if err != nil && !passing(err) {
			return "", nil, fetch.Hopeless{Err: err}
		}
		if err != nil {
			return "", nil, err
		}
		return *fresh, header, nil
	}
}

// output is where a job's output is. The redirect is followed by hand, without
// the key.
func (c *Client) output(ctx context.Context, id string) (*string, error) {
	response, err := c.request(ctx, http.MethodGet, jobPath(id)+"/output", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusFound {
		return nil, problem(response)
	}
	to, err := c.resolve(response.Header.Get("Location"))
	return &to, err
}

// downloadFault says what to do about it.
func downloadFault(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, fetch.ErrDigest):
		return errors.New("the bytes that came are not the verified ones, in three tries; nothing of them is left: try again, and run rendermac doctor on the server if it stays so")
	case errors.As(err, new(fetch.Hopeless)) || ctx.Err() != nil:
		return err
	}
	return fmt.Errorf("%w; the same command goes on with it", err)
}

// resolve is an address the server gave, which may lack scheme and host.
func (c *Client) resolve(ref string) (string, error) {
	base, err := url.Parse(c.url)
	if err != nil {
		return "", err
	}
	to, err := base.Parse(ref)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" {
		return "", errors.New("the server gave an address that cannot be used")
	}
	return to.String(), nil
}

// publish gives the finished file its name, once its bytes are on the disk. A
// link, unlike a rename, never replaces what has come there meanwhile; some file
// systems have none.
func publish(temp, path string, force bool) error {
	if err := settle(temp); err != nil {
		return err
	}
	if !force {
		err := os.Link(temp, path)
		if err == nil {
			return os.Remove(temp)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists: pass --force to overwrite it", path)
		}
	}
	return os.Rename(temp, path)
}

func settle(temp string) error {
	file, err := os.OpenFile(temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o644), file.Sync(), file.Close())
}
