package server

import (
	"context"

	"rendermac/web"
)

const movementsShown = 50

func (s *Server) showJournal(ctx context.Context, c call) (web.Page, error) {
	paging, err := c.paging("before", "getJournal", movementsShown)
	if err != nil {
		return nil, err
	}
	a, list, err := s.journal(ctx, c, &journalOf{ID: c.echo.Param("id"), Paging: paging})
	if err != nil {
		return nil, err
	}
	shown := answerWith(list)
	shown.seal("getJournal")
	content := web.Journal{Account: accountFacts(a), Paging: c.turning("before", "", shown.Body.NextCursor)}
	for _, m := range shown.Body.Items {
		row := web.Movement{ID: m.ID, At: m.At, Kind: m.Kind, Amount: m.Amount, Held: m.Held, Spent: m.Spent}
		if m.JobID != nil {
			row.JobID = *m.JobID
		}
		content.Rows = append(content.Rows, row)
	}
	return content, nil
}
