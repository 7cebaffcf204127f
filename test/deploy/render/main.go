// Renders the chart of deploy/helm as Helm does: text/template, sprig, and Helm's own functions.
//
//	main CHART RELEASE NAMESPACE < values.json
//
// Standard input holds values that override values.yaml. Standard output has the documents of all
// templates, NOTES.txt last behind the line "---NOTES---".
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type values = map[string]interface{}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(chart, release, namespace string) error {
	merged, given, about := values{}, values{}, values{}
	if err := readYAML(filepath.Join(chart, "values.yaml"), &merged); err != nil {
		return err
	}
	if err := readYAML(filepath.Join(chart, "Chart.yaml"), &about); err != nil {
		return err
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	merge(merged, given)
	chartValues := values{}
	for name, value := range about {
		chartValues[strings.ToUpper(name[:1])+name[1:]] = value
	}
	context := values{
		"Values":  merged,
		"Chart":   chartValues,
		"Release": values{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true},
	}
	return render(chart, context)
}

func readYAML(path string, into interface{}) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// Maps are merged, other values replaced, null removes: Helm's rule for values.
func merge(base, over values) {
	for name, value := range over {
		inner, isMap := value.(values)
		present, wasMap := base[name].(values)
		switch {
		case value == nil:
			delete(base, name)
		case isMap && wasMap:
			merge(present, inner)
		default:
			base[name] = value
		}
	}
}

func render(chart string, context values) error {
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(sprig.TxtFuncMap()).Funcs(functions(root))
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return err
	}
	sort.Strings(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := root.New(filepath.Base(path)).Parse(string(text)); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		text, err := execute(root, filepath.Base(path), context)
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", filepath.Base(path), strings.TrimSpace(text))
		}
	}
	notes, err := execute(root, "NOTES.txt", context)
	if err != nil {
		return err
	}
	fmt.Printf("---NOTES---\n%s\n", notes)
	return nil
}

func execute(root *template.Template, name string, data interface{}) (string, error) {
	var out bytes.Buffer
	err := root.ExecuteTemplate(&out, name, data)
	return strings.ReplaceAll(out.String(), "<no value>", ""), err
}

func functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			return execute(root, name, data)
		},
		"toYaml": func(value interface{}) string {
			text, err := yaml.Marshal(value)
			if err != nil {
				return ""
			}
			return strings.TrimSuffix(string(text), "\n")
		},
		"required": func(message string, value interface{}) (interface{}, error) {
			if isEmpty(value) {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"fail": func(message string) (string, error) { return "", errors.New(message) },
	}
}

func isEmpty(value interface{}) bool {
	switch held := value.(type) {
	case nil:
		return true
	case string:
		return held == ""
	case []interface{}:
		return len(held) == 0
	}
	return false
}
