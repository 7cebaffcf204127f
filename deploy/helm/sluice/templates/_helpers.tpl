{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* 52 characters: the label of a StatefulSet's revision adds eleven, and a label has 63 at most. */}}
{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "sluice.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sluice.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* A name of its own: the Services of the gateway do not select the pod of a migration. */}}
{{- define "sluice.migrationLabels" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}-migration
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "sluice.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "sluice.configMap" -}}
{{- default (printf "%s-config" (include "sluice.fullname" .)) .Values.config.existingConfigMap -}}
{{- end -}}

{{/* Seconds of a duration such as 90s or 2m. */}}
{{- define "sluice.seconds" -}}
{{- if hasSuffix "ms" . -}}1
{{- else if hasSuffix "s" . -}}{{ trimSuffix "s" . | int }}
{{- else if hasSuffix "m" . -}}{{ mul (trimSuffix "m" . | int) 60 }}
{{- else if hasSuffix "h" . -}}{{ mul (trimSuffix "h" . | int) 3600 }}
{{- else -}}{{ fail (printf "%q is not a duration: write 90s, 2m or 1h" .) }}
{{- end -}}
{{- end -}}

{{/* gateway.yaml: the operator's sections, and what the chart knows of the pod. */}}
{{- define "sluice.gateway" -}}
{{- range $name, $value := (default dict .Values.config.gateway.server) -}}
{{- if has $name (list "host" "port" "tls" "data_directory" "shutdown_delay" "drain_timeout") -}}
{{- fail (printf "config.gateway.server.%s is set by the chart: use the values service, tls, drain and persistence" $name) -}}
{{- end -}}
{{- end -}}
{{- $given := dig "server" "admin" dict .Values.config.gateway -}}
{{- if not (kindIs "map" $given) -}}
{{- fail "config.gateway.server.admin is not a map: leave it out, the chart sets the admin listener" -}}
{{- end -}}
{{- range $name, $value := $given -}}
{{- if has $name (list "host" "port") -}}
{{- fail (printf "config.gateway.server.admin.%s is set by the chart: use the value admin.port" $name) -}}
{{- end -}}
{{- end -}}
{{- $admin := dict "host" "0.0.0.0" "port" (.Values.admin.port | int) -}}
{{- if .Values.readKey.existingSecret -}}
{{- $_ := set $admin "read_key" "${env:SLUICE_READ_KEY}" -}}
{{- end -}}
{{- $server := dict "host" "0.0.0.0" "port" 4000 "admin" $admin "data_directory" "/data" "shutdown_delay" .Values.drain.delay "drain_timeout" .Values.drain.timeout -}}
{{- if .Values.tls.existingSecret -}}
{{- $_ := set $server "tls" (dict "certificate" "/tls/tls.crt" "key" "/tls/tls.key") -}}
{{- end -}}
{{- toYaml (mergeOverwrite (dict "server" $server) (deepCopy .Values.config.gateway)) -}}
{{- end -}}

{{/* The files of the configuration, as the data of a ConfigMap. */}}
{{- define "sluice.configData" -}}
gateway.yaml: |
  {{- include "sluice.gateway" . | nindent 2 }}
{{- range $name, $text := .Values.config.pipelines }}
{{ printf "pipelines.%s" $name | quote }}: |
  {{- $text | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Which file of the ConfigMap is mounted where. */}}
{{- define "sluice.configItems" -}}
- { key: gateway.yaml, path: gateway.yaml }
{{- range $name, $text := .Values.config.pipelines }}
- { key: {{ printf "pipelines.%s" $name | quote }}, path: {{ printf "pipelines/%s" $name | quote }} }
{{- end }}
{{- end -}}

{{/* Variables that the configuration refers to. */}}
{{- define "sluice.references" -}}
{{- if .Values.readKey.existingSecret }}
- name: SLUICE_READ_KEY
  valueFrom:
    secretKeyRef: { name: {{ .Values.readKey.existingSecret }}, key: {{ .Values.readKey.key }} }
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}
