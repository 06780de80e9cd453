// Package failpoint marks the places where a test may kill or hold the process:
// before and after each COMMIT and each effect outside it. In a build without
// the tag `failpoints`, which is every build but those of the tests in qualify,
// a mark is nothing.
package failpoint
