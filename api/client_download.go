package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// Download writes a job's output to path once its length and digest are the
// job's. Nothing is overwritten without force, and nothing half-done is left.
func (c *Client) Download(ctx context.Context, job *Job, path string, force bool, progress func(int64)) error {
	if job.Artifact == nil {
		return fmt.Errorf("job %s has no output: it is %s", job.ID, job.Status)
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s exists: pass --force to overwrite it", path)
	}
	body, err := c.output(ctx, job.ID)
	if err != nil {
		return err
	}
	defer body.Close()
	temp, err := os.CreateTemp(filepath.Dir(path), ".rendermac-*.part")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	err = copyChecked(temp, body, job.Artifact, progress)
	if err = errors.Join(err, temp.Close()); err != nil {
		return fmt.Errorf("download of %s: %w", job.ID, err)
	}
	return publish(temp.Name(), path, force)
}

// output follows the redirect by hand, without the key.
func (c *Client) output(ctx context.Context, id string) (io.ReadCloser, error) {
	response, err := c.request(ctx, http.MethodGet, "/v1/jobs/"+url.PathEscape(id)+"/output", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusFound {
		return nil, problem(response)
	}
	from, err := c.resolve(response.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", c.agent)
	blob, err := c.blobs.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if blob.StatusCode != http.StatusOK {
		defer blob.Body.Close()
		return nil, problem(blob)
	}
	return blob.Body, nil
}

// copyChecked writes what comes, up to one byte more than promised, and compares.
func copyChecked(file *os.File, body io.Reader, want *Artifact, progress func(int64)) error {
	hash := sha256.New()
	counting := &counter{progress}
	n, err := io.Copy(io.MultiWriter(file, hash, counting), io.LimitReader(body, want.Bytes+1))
	if err != nil {
		return err
	}
	if n != want.Bytes {
		return fmt.Errorf("%d bytes came, not %d: try again", n, want.Bytes)
	}
	if hex.EncodeToString(hash.Sum(nil)) != want.SHA256 {
		return errors.New("the bytes that came are not the verified ones: try again")
	}
	return file.Sync()
}

type counter struct{ progress func(int64) }

func (c *counter) Write(p []byte) (int, error) {
	c.progress(int64(len(p)))
	return len(p), nil
}

// publish gives the finished file its name. A link, unlike a rename, never
// replaces what has come there meanwhile; some file systems have none.
func publish(temp, path string, force bool) error {
	if err := os.Chmod(temp, 0o644); err != nil {
		return err
	}
	if !force {
		err := os.Link(temp, path)
		if err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists: pass --force to overwrite it", path)
		}
	}
	return os.Rename(temp, path)
}
