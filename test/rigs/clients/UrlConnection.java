import java.net.HttpURLConnection;
import java.net.URL;

/** java.net.HttpURLConnection, which shares connections by itself. */
class UrlConnection {
  public static void main(String[] steps) throws Exception {
    for (String step : steps) {
      String[] words = step.split(" ");
      if (words[0].equals("WAIT")) {
        Thread.sleep(Long.parseLong(words[1]) * 1000);
        continue;
      }
      try {
        HttpURLConnection connection = (HttpURLConnection) new URL(words[1]).openConnection();
        connection.setRequestMethod(words[0]);
        connection.setRequestProperty("Authorization", "Bearer " + System.getenv("TOKEN"));
        connection.setRequestProperty("Content-Type", "application/json");
        if (!words[2].equals("-")) connection.setRequestProperty("Idempotency-Key", words[2]);
        if (!words[3].equals("-")) connection.setRequestProperty("Expect", "100-continue");
        if (words[0].equals("POST") || words[0].equals("PATCH")) {
          connection.setDoOutput(true);
          if (!words[3].equals("-")) connection.setFixedLengthStreamingMode(System.getenv("BODY").length());
          connection.getOutputStream().write(System.getenv("BODY").getBytes());
        }
        int status = connection.getResponseCode();
        var stream = status < 400 ? connection.getInputStream() : connection.getErrorStream();
        System.out.println(status + " " + (stream == null ? 0 : stream.readAllBytes().length));
        if (stream != null) stream.close();
      } catch (Exception error) {
        System.out.println("error " + error.getClass().getSimpleName() + ": " + error.getMessage());
      }
    }
  }
}
