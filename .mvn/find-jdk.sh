# Sourced by `mvnw` and `sluice`: sets JAVA_HOME to a JDK of at least 25 and exports it.
#
# Order: JAVA_HOME, the `javac` on PATH, the usual folders of Linux and macOS, newest first.
# A candidate is judged by its `release` file, so that looking costs no JVM start.

sluice_jdk_required=25

sluice_jdk_fits() {
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 1
  sluice_jdk_major=$(sed -n 's/^JAVA_VERSION="\([0-9][0-9]*\).*/\1/p' "$1/release")
  [ -n "$sluice_jdk_major" ] && [ "$sluice_jdk_major" -ge "$sluice_jdk_required" ]
}

# The home of the `javac` on PATH: links are followed, since /usr/bin/javac is usually two of them.
sluice_jdk_on_path() {
  sluice_link=$(command -v javac 2>/dev/null) || return 1
  while [ -L "$sluice_link" ]; do
    sluice_target=$(readlink "$sluice_link")
    case $sluice_target in
      /*) sluice_link=$sluice_target ;;
      *) sluice_link=$(dirname "$sluice_link")/$sluice_target ;;
    esac
  done
  dirname "$(dirname "$sluice_link")"
}

# Prints the first fitting folder of the usual places; the wanted major before later ones.
sluice_jdk_installed() {
  sluice_newer=
  set +f
  for sluice_home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "$HOME"/Library/Java/JavaVirtualMachines/*/Contents/Home \
    /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
    /usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
    "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
    sluice_jdk_fits "$sluice_home" || continue
    if [ "$sluice_jdk_major" -eq "$sluice_jdk_required" ]; then
      printf '%s\n' "$sluice_home"
      return 0
    fi
    sluice_newer=$sluice_home
  done
  [ -z "$sluice_newer" ] || printf '%s\n' "$sluice_newer"
}

sluice_find_jdk() {
  if [ -n "${JAVA_HOME-}" ] && sluice_jdk_fits "$JAVA_HOME"; then
    return 0
  fi
  sluice_found=$(sluice_jdk_on_path) && sluice_jdk_fits "$sluice_found" || sluice_found=$(sluice_jdk_installed) || :
  if [ -z "$sluice_found" ]; then
    cat >&2 <<MESSAGE
no JDK $sluice_jdk_required or later found in JAVA_HOME, on PATH or in the usual folders

Install Eclipse Temurin $sluice_jdk_required:
  Debian, Ubuntu   apt-get install temurin-$sluice_jdk_required-jdk   (package source: https://adoptium.net/installation/linux)
  macOS            brew install --cask temurin@$sluice_jdk_required
or set JAVA_HOME to one.
MESSAGE
    return 1
  fi
  JAVA_HOME=$sluice_found
  export JAVA_HOME
}

sluice_find_jdk
