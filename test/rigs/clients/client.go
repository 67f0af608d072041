package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// One http.Client for all steps.
func main() {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = os.Getenv("SWITCH") == "on"
	client := &http.Client{Transport: transport}
	for _, step := range os.Args[1:] {
		words := strings.Split(step, " ")
		if words[0] == "WAIT" {
			seconds, _ := strconv.Atoi(words[1])
			time.Sleep(time.Duration(seconds) * time.Second)
			continue
		}
		var body io.Reader
		if words[0] == "POST" || words[0] == "PATCH" {
			body = strings.NewReader(os.Getenv("BODY"))
		}
		request, err := http.NewRequest(words[0], words[1], body)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		request.Header.Set("Content-Type", "application/json")
		if words[2] != "-" {
			request.Header.Set("Idempotency-Key", words[2])
		}
		if words[3] != "-" {
			request.Header.Set("Expect", "100-continue")
		}
		response, err := client.Do(request)
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		fmt.Println(response.StatusCode, len(text))
	}
}
