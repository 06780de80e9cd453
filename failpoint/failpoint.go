// Package failpoint marks the places where a test may kill or hold the process:
// before and after each COMMIT and each effect outside it. In a build without
// the tag `failpoints`, which is every build but those of the tests in qualify,
// a mark is nothing.
//
// Marks are called after their package and what happens there, mostly with
// .before or .after; server.answer.NAME is an answer of the operation of that
// name in OpenAPI. `grep -rho 'failpoint.At(.*)'` lists the others.
package failpoint
