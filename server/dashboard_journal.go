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
		content.Rows = append(content.Rows, web.Movement{ID: m.ID, At: m.At, Kind: m.Kind, JobID: orEmpty(m.JobID), Amount: m.Amount, Held: m.Held, Spent: m.Spent})
	}
	return content, nil
}
