package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type question struct {
	value uint64
	reply chan uint64
}

// requests has clients that each ask one service so many times, one request at a time, with a reply channel of their own.
func requests(clients, each int) float64 {
	asked := make(chan question, 1024)
	go func() {
		for q := range asked {
			q.reply <- q.value + 1
		}
	}()
	var ended sync.WaitGroup
	var wrong atomic.Bool
	start := time.Now()
	for range clients {
		ended.Go(func() {
			reply := make(chan uint64, 1)
			x := uint64(0)
			for range each {
				asked <- question{x, reply}
				x = <-reply
			}
			if x != uint64(each) {
				wrong.Store(true)
			}
		})
	}
	ended.Wait()
	seconds := time.Since(start).Seconds()
	close(asked)
	if wrong.Load() {
		fail("a wrong reply")
	}
	return seconds
}

// pending has so many goroutines that each wait at a channel of their own: bytes of one, seconds to create all, seconds to complete all. The slice of channels
// by which they are completed is made and touched before, and is not counted.
func pending(count int) (bytes, create, complete float64) {
	channels := make([]chan uint64, count)
	for i := range channels {
		channels[i] = nil
	}
	var waiting atomic.Int64
	var ended sync.WaitGroup
	runtime.GC()
	debug.FreeOSMemory()
	before := residentBytes()
	start := time.Now()
	for i := range channels {
		channel := make(chan uint64, 1)
		channels[i] = channel
		ended.Go(func() {
			waiting.Add(1)
			sink.Add(<-channel)
		})
	}
	for waiting.Load() < int64(count) {
		runtime.Gosched()
	}
	create = time.Since(start).Seconds()
	bytes = (residentBytes() - before) / float64(count)
	start = time.Now()
	for _, channel := range channels {
		channel <- 1
	}
	ended.Wait()
	return bytes, create, time.Since(start).Seconds()
}

// residentBytes is the resident memory of this process; 0 where the system does not say.
func residentBytes() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024
		}
	}
	return 0
}
