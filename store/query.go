package store

import "database/sql"

// querier runs queries, on the writer's connection or on a reader's.
type querier struct {
	run    func(query string, args ...any) (*sql.Rows, error)
	failed func(error) error // sees each error that comes between two rows
}

// one scans the first row; sql.ErrNoRows where there is none.
func (q querier) one(query string, args []any, dest ...any) error {
	rows, err := q.run(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return cmpErr(q.failed(rows.Err()), sql.ErrNoRows)
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return q.failed(rows.Close())
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// each calls scan for every row.
func (q querier) each(query string, args []any, scan func(rows *sql.Rows) error) error {
	rows, err := q.run(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return q.failed(rows.Err())
}
