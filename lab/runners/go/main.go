// Go's goroutines and channels as a runner of the lab: a request a line, each answered with a line of JSON. The protocol stands in
// lab/runners/ports/src/lib.rs; `make peers-go` builds this.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// unitSteps is the number of steps of the generator in one unit of computation.
const unitSteps = 960

// The generator's constants, as variables, so that no compiler folds steps into one.
var factor, increment uint64 = 6364136223846793005, 1442695040888963407

// sink keeps results that nothing else uses.
var sink atomic.Uint64

// units is so many units of computation: dependent steps of a 64-bit linear congruential generator.
//
//go:noinline
func units(x uint64, count int) uint64 {
	a, c := factor, increment
	for range count * unitSteps {
		x = x*a + c
	}
	return x
}

// unit is the median of nine looks at what a unit lasts, and the generator's value by which the lab sees that it is the same computation.
func unit() string {
	looks := make([]float64, 9)
	for i := range looks {
		start := time.Now()
		sink.Add(units(1, 100))
		looks[i] = float64(time.Since(start).Nanoseconds()) / 100
	}
	slices.Sort(looks)
	return fmt.Sprintf(`{"ns": %g, "value": %d}`, looks[len(looks)/2], units(7, 1))
}

// fail ends the runner: a wrong result is no measurement.
func fail(what string) {
	fmt.Fprintln(os.Stderr, "go runner:", what)
	os.Exit(1)
}

const absent = `{"absent": true}`

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(answer(strings.Fields(lines.Text())))
	}
}

// answer says what a request asks for. Engine 0 is all there is.
func answer(words []string) string {
	if len(words) == 1 && words[0] == "about" {
		return fmt.Sprintf(`{"libraries": {"go": %q}, "engines": ["Go goroutines"]}`, strings.TrimPrefix(runtime.Version(), "go"))
	}
	if len(words) < 2 || words[0] != "0" {
		return absent
	}
	kind, words := words[1], words[2:]
	var form, pattern string
	if kind == "pattern" && len(words) > 2 {
		form, pattern, words = words[0], words[1], words[2:]
	}
	counts := make([]int, len(words))
	for i, word := range words {
		count, err := strconv.Atoi(word)
		if err != nil {
			fail("no request: " + word)
		}
		counts[i] = count
	}
	switch {
	case kind == "unit":
		return unit()
	case kind == "pattern" && len(counts) == 4:
		r := run{pattern: pattern, ranks: counts[0], units: counts[2], stages: counts[3]}
		runtime.GOMAXPROCS(counts[1])
		if form == "spawned" {
			return seconds(spawned(r))
		}
		return seconds(rendezvous(r))
	case kind == "requests" && len(counts) == 3:
		runtime.GOMAXPROCS(counts[1])
		return seconds(requests(counts[0], counts[2]))
	case kind == "pending" && len(counts) == 1:
		bytes, create, complete := pending(counts[0])
		return fmt.Sprintf(`{"bytes": %g, "create_seconds": %g, "complete_seconds": %g}`, bytes, create, complete)
	}
	return absent
}

func seconds(value float64) string {
	return fmt.Sprintf(`{"seconds": %g}`, value)
}
