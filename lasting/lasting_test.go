package lasting

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMakeFolderMakesWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "c")
	for range 2 { // and again, where it is there
		if err := MakeFolder(path); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
}

func TestMakeFolderRefusesAFileInItsPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if MakeFolder(path) == nil {
			t.Errorf("%s was made", path)
		}
	}
}

func TestWriteFileReplacesAndIsForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"something longer\n", "short\n"} {
		if err := WriteFile(path, text); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
}

func TestFolderSaysWhatIsNotThere(t *testing.T) {
	if Folder(filepath.Join(t.TempDir(), "nowhere")) == nil {
		t.Fatal("nothing was synced, and nobody said so")
	}
}
