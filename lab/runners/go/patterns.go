package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// Who posts to whom in a stage; the words of the line protocol.
const (
	none      = "none"
	pipeline  = "pipeline"
	shift     = "shift"
	twoShifts = "two-shifts"
	exchange  = "exchange"
)

// run is what is to be run.
type run struct {
	pattern string
	ranks   int
	units   int
	stages  int
}

// computation is what ranks do between messages, alone: what overheads are counted from.
func computation(r run) float64 {
	var ended sync.WaitGroup
	start := time.Now()
	for rank := range r.ranks {
		ended.Go(func() {
			x := uint64(rank)
			for range r.stages {
				x = units(x, r.units)
			}
			sink.Add(x)
		})
	}
	ended.Wait()
	return time.Since(start).Seconds()
}

// rendezvous has a goroutine a rank, and two channels a rank: from its left and from its right, so that a receive names its source. A message is the number
// of its stage, and every rank checks each that it gets.
func rendezvous(r run) float64 {
	if r.pattern == none {
		return computation(r)
	}
	fromLeft, fromRight := make([]chan uint64, r.ranks), make([]chan uint64, r.ranks)
	for rank := range r.ranks {
		fromLeft[rank], fromRight[rank] = make(chan uint64, 2), make(chan uint64, 2)
	}
	var ended sync.WaitGroup
	var wrong atomic.Uint64
	start := time.Now()
	for rank := range r.ranks {
		ended.Go(func() {
			ownLeft, ownRight := fromLeft[rank], fromRight[rank]
			right, left := fromLeft[(rank+1)%r.ranks], fromRight[(rank+r.ranks-1)%r.ranks]
			x, differs := uint64(rank), uint64(0)
			for stage := range uint64(r.stages) {
				switch r.pattern {
				case pipeline:
					ownLeft <- stage
					differs |= <-ownLeft ^ stage
				case shift:
					right <- stage
					differs |= <-ownLeft ^ stage
				case twoShifts:
					right <- stage
					differs |= <-ownLeft ^ stage
					left <- stage
					differs |= <-ownRight ^ stage
				case exchange:
					right <- stage
					left <- stage
					differs |= <-ownLeft ^ stage
					differs |= <-ownRight ^ stage
				}
				if r.units > 0 {
					x = units(x, r.units)
				}
			}
			sink.Add(x)
			wrong.Or(differs)
		})
	}
	ended.Wait()
	seconds := time.Since(start).Seconds()
	if wrong.Load() != 0 {
		fail("a message of another stage")
	}
	return seconds
}

const countedStages = 168

// counters stand for the port of a rank that waits for two messages: one a stage modulo a multiple of the number of ranks (COUNTED_STAGES of the other runners).
type counters struct {
	of [countedStages]atomic.Int32
	_  [64]byte
}

// ring is a spawned run: every message, or pair of messages, starts a goroutine.
type ring struct {
	run
	counters []counters
	reached  []atomic.Int32
	left     sync.WaitGroup
}

// spawned gives the seconds until the last handler of every rank has run.
func spawned(r run) float64 {
	if r.pattern == none {
		return computation(r)
	}
	all := &ring{run: r, counters: make([]counters, r.ranks), reached: make([]atomic.Int32, r.ranks)}
	all.left.Add(r.ranks)
	start := time.Now()
	for rank := range r.ranks {
		go all.handler(rank, 0)
	}
	all.left.Wait()
	seconds := time.Since(start).Seconds()
	for rank := range r.ranks {
		if all.reached[rank].Load() != 1 {
			fail("a rank did not reach its last stage once")
		}
	}
	return seconds
}

func (r *ring) handler(rank, stage int) {
	if r.units > 0 {
		units(uint64(stage), r.units)
	}
	next := stage + 1
	if next >= r.stages {
		r.reached[rank].Add(1)
		r.left.Done()
		return
	}
	right, left := (rank+1)%r.ranks, (rank+r.ranks-1)%r.ranks
	switch r.pattern {
	case pipeline:
		go r.handler(rank, next)
	case shift:
		go r.handler(right, next)
	case twoShifts:
		r.postOfTwo(right, next)
		r.postOfTwo(right, next)
	case exchange:
		r.postOfTwo(right, next)
		r.postOfTwo(left, next)
	}
}

func (r *ring) postOfTwo(rank, stage int) {
	count := &r.counters[rank].of[stage%countedStages]
	if count.Add(1) == 2 {
		count.Store(0)
		go r.handler(rank, stage)
	}
}
