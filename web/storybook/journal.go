package main

import (
	"fmt"
	"time"

	"rendermac/web"
)

var journal = []story{
	{"journal/empty", reader("Account", "/settings"), web.Journal{Account: account("a1", "wall screen", nil, 0, 0)}},
	{"journal/busy", admin("Account", "/settings"), web.Journal{Account: account("b2", "acme", new(int64(5000)), 60, 180), Rows: movements(6)}},
	{"journal/over", admin("Account", "/settings"), web.Journal{
		Account: account("c3", "استوديو التحرير الثاني "+"without-a-place-to-break-the-line-for-as-long-as-seventy-characters-of-it-go", new(int64(500)), 60, 5_600_000), Rows: movements(50),
		Paging: web.Paging{First: "/settings/accounts/c3", Next: "/settings/accounts/c3?before=b2xk"},
	}},
}

func movements(n int) (list []web.Movement) {
	for i := range n {
		list = append(list, web.Movement{
			ID: int64(n - i), At: now.Add(-time.Duration(i) * 7 * time.Minute), Kind: []string{"hold", "capture", "release"}[i%3],
			JobID: fmt.Sprintf("job_01kbd3m8q5w9x2c7e4r6t8y0%02d", i/2), Amount: 20, Held: int64(i * 20), Spent: int64(180_000 + i),
		})
	}
	return list
}
