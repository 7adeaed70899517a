# Writes a C++ file with the content of files as arrays of bytes, and the SHA-256 of each for a Content-Security-Policy.
#   cmake -DOUTPUT=assets.cpp "-DASSETS=chart_js=/path/a.js|page_css=/path/b.css" -P embed_assets.cmake
set(text "// Made by cmake/embed_assets.cmake.\n#include \"cli/report/html/assets.hpp\"\n\nnamespace dt::cli {\nnamespace {\n")
set(functions "")
string(REPLACE "|" ";" assets "${ASSETS}")
foreach(asset IN LISTS assets)
  string(FIND "${asset}" "=" equals)
  string(SUBSTRING "${asset}" 0 ${equals} name)
  math(EXPR begin "${equals} + 1")
  string(SUBSTRING "${asset}" ${begin} -1 file)
  file(READ "${file}" hex HEX)
  file(SHA256 "${file}" hash)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "constexpr unsigned char ${name}_bytes[]{${bytes}};\n")
  string(APPEND functions
    "Asset ${name}()\n{\n  return {{reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes}, \"${hash}\"};\n}\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}} // namespace\n\n${functions}\n} // namespace dt::cli\n")
